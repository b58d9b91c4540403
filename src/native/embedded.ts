/**
 * Files inside the executable. The build replaces this module by one that names them
 * (scripts/build-executable.ts); when run from source there are none, and files are used in place.
 */
export interface EmbeddedFiles {
  /** Hash of the contents of `files`; names the folder they are copied to. */
  readonly version: string
  /** What the operating system must load from disk, by name below that folder. */
  readonly files: Readonly<Record<string, EmbeddedFile>>
  /** Paths of the console's files inside the executable. */
  readonly web: readonly string[]
}

export interface EmbeddedFile {
  /** Path of the bytes inside the executable. */
  readonly path: string
  /** In bytes. */
  readonly size: number
  /** SHA-256 of the bytes, in hexadecimal digits. */
  readonly sha256: string
}

export const embedded: EmbeddedFiles | null = null
