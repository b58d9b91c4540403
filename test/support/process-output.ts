/** The output of a server, to read now or to wait for. */
export interface ProcessOutput {
  /** The whole output so far. */
  text(): string
  /** Resolves with the first result of `find` that is not null, now or after more output. */
  until<Found>(find: (text: string) => Found | null): Promise<Found>
}

export function createProcessOutput() {
  let text = ''
  const waiting = new Set<() => void>()
  return {
    add(more: string): void {
      text += more
      for (const look of waiting) look()
    },
    text: () => text,
    until<Found>(find: (text: string) => Found | null): Promise<Found> {
      return new Promise((resolve) => {
        const look = () => {
          const found = find(text)
          if (found === null) return
          waiting.delete(look)
          resolve(found)
        }
        waiting.add(look)
        look()
      })
    },
  }
}
