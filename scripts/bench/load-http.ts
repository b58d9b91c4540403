import { openConnection, type RequestParts, requestBytes } from './connection.ts'

export interface HttpLoad {
  readonly connections: number
  readonly seconds: number
}

/** Requests a second over several keep-alive connections; every answer must be a 200. */
export async function loadHttp(parts: RequestParts, load: HttpLoad): Promise<number> {
  const request = requestBytes(parts)
  let answers = 0
  const begin = performance.now()
  const deadline = begin + load.seconds * 1_000

  async function work() {
    const connection = await openConnection(parts.url)
    while (performance.now() < deadline) {
      const status = await connection.send(request)
      if (status !== 200) throw new Error(`${parts.url} answered ${status}`)
      answers++
    }
    connection.close()
  }

  await Promise.all(Array.from({ length: load.connections }, work))
  return answers / ((performance.now() - begin) / 1_000)
}
