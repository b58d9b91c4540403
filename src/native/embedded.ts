/**
 * Files the operating system must load from disk, carried inside the executable. The build replaces
 * this module by one that names them (scripts/build-executable.ts); run from source there are none,
 * and the packages' own files are used where they lie.
 */
export interface EmbeddedFiles {
  /** Hash of all contents; names the folder they are copied to. */
  readonly version: string
  /** By name below that folder. */
  readonly files: Readonly<Record<string, EmbeddedFile>>
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
