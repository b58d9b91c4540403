/** The file that Bun is told to run; none for the executable, which has it inside. */
export const mainFile = (): readonly string[] => (Bun.main.startsWith('/$bunfs/') ? [] : [Bun.main])

/** Where this program finds its own parts, which differs between the sources and the executable. */
export interface Program {
  /** How it starts itself again, as one of the processes of worker-commands.ts. */
  readonly self: readonly string[]
  /** Addresses of its threads. */
  readonly writerUrl: string
  readonly readerUrl: string
  readonly encoderUrl: string
}

/** `main` is the address of `src/main.ts`; threads keep their place beside it. */
export function programAt(main: string, self: readonly string[]): Program {
  const thread = (path: string) => new URL(path, main).href
  return {
    self,
    writerUrl: thread('./storage/sqlite/writer.ts'),
    readerUrl: thread('./storage/sqlite/reader.ts'),
    encoderUrl: thread('./audio/encode-worker.ts'),
  }
}
