import { openConnection, type RequestParts, requestBytes } from './connection.ts'
import { quantile } from './stats.ts'

export interface HttpLoad {
  readonly connections: number
  readonly seconds: number
}

export interface HttpResult {
  readonly requestsPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

/** As many requests as go through some keep-alive connections; every answer must be a 200. */
export async function loadHttp(parts: RequestParts, load: HttpLoad): Promise<HttpResult> {
  const request = requestBytes(parts)
  const times: number[] = []
  const begin = performance.now()
  const deadline = begin + load.seconds * 1_000

  async function work() {
    const connection = await openConnection(parts.url)
    for (let sent = performance.now(); sent < deadline; sent = performance.now()) {
      const status = await connection.send(request)
      if (status !== 200) throw new Error(`${parts.url} answered ${status}`)
      times.push(performance.now() - sent)
    }
    connection.close()
  }

  await Promise.all(Array.from({ length: load.connections }, work))
  const seconds = (performance.now() - begin) / 1_000
  return {
    requestsPerSecond: times.length / seconds,
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
  }
}
