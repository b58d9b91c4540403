/**
 * Files carried inside the executable. The build replaces this module by one that names them
 * (scripts/build-executable.ts); run from source there are none, and files are used where they lie.
 */
export interface EmbeddedFiles {
  /** Hash of the contents of `files`; names the folder they are copied to. */
  readonly version: string
  /** What the operating system must load from disk, by name below that folder. */
  readonly files: Readonly<Record<string, EmbeddedFile>>
  /** The console's files: paths inside the executable, which lie there as the build wrote them. */
  readonly web: readonly string[]
}

export interface EmbeddedFile {
  /** Of the bytes inside the executable. */
  readonly path: string
  /** In bytes. */
  readonly size: number
  /** Of the bytes, in hexadecimal digits. */
  readonly sha256: string
}

export const embedded: EmbeddedFiles | null = null
