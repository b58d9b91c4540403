/** Where this program finds its own parts, which differs between the sources and the executable. */
export interface Program {
  /** How it starts itself again, as the embedding process. */
  readonly self: readonly string[]
  readonly writerUrl: string
  readonly readerUrl: string
  readonly decoderUrl: string
}
