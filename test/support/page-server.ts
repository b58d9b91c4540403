/** A stranger's web server with one page; records its requests. */
export function startPageServer() {
  let answer: (request: Request) => Response | Promise<Response> = () =>
    new Response('', { status: 404 })
  /** The headers of each request; Bun forgets them once it is answered. */
  const requests: Headers[] = []
  let waiting: (() => void)[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      requests.push(new Headers(request.headers))
      for (const wake of waiting) wake()
      waiting = []
      return answer(request)
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}/page`,
    host: `127.0.0.1:${server.port}`,
    requests,
    /** The value of a header of the last request. */
    lastHeader: (name: string) => requests.at(-1)?.get(name) ?? null,
    /** Resolves at the next request. */
    asked: () => new Promise<void>((resolve) => waiting.push(resolve)),
    serve(next: typeof answer): void {
      answer = next
    },
    html(text: string, headers: Readonly<Record<string, string>> = {}): void {
      const type = { 'content-type': 'text/html; charset=utf-8' }
      answer = () => new Response(text, { headers: { ...type, ...headers } })
    },
    status(status: number, headers: Readonly<Record<string, string>> = {}): void {
      answer = () => new Response(null, { status, headers })
    },
    [Symbol.dispose]: () => void server.stop(true),
  }
}

export type PageServer = ReturnType<typeof startPageServer>
