import type { Exchange } from './upstream-exchange.ts'

/**
 * A number answers with that HTTP status; `reset` closes before the headers; `silent` never
 * answers; `stall` sends the headers and never a byte;
 * `html` answers 200 with a page; `redirect` answers 302.
 */
export type Fault = number | 'reset' | 'silent' | 'stall' | 'html' | 'redirect'

export interface FaultOptions {
  /** Pieces of a good answer before the fault. */
  readonly after?: number
  /** `Retry-After` as it is sent. */
  readonly retryAfter?: string
  /** Replaces the error body. */
  readonly body?: string
  /** The target of `redirect`. */
  readonly location?: string
}

export const SECRET = 'sk-SECRET-must-not-leak'

export function playFault(exchange: Exchange, fault: Fault, options: FaultOptions): void {
  const { response } = exchange
  if (typeof fault === 'number') sendStatus(exchange, fault, options)
  switch (fault) {
    case 'reset':
      exchange.brokenOff = true
      response.socket?.destroy()
      return
    case 'silent':
      return
    case 'stall':
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.flushHeaders()
      return
    case 'html':
      response.writeHead(200, { 'content-type': 'text/html' })
      response.end(`<html><body>${SECRET}</body></html>`)
      return
    case 'redirect':
      response.writeHead(302, { location: options.location ?? 'http://127.0.0.1:1/' })
      response.end()
      return
  }
}

function sendStatus(exchange: Exchange, status: number, options: FaultOptions): void {
  const body = { error: { message: `upstream says ${SECRET}`, type: 'error', code: status } }
  exchange.response.writeHead(status, {
    'content-type': 'application/json',
    ...(options.retryAfter === undefined ? {} : { 'retry-after': options.retryAfter }),
  })
  exchange.response.end(options.body ?? JSON.stringify(body))
}

export function sendJson(exchange: Exchange, status: number, body: unknown): void {
  exchange.response.writeHead(status, { 'content-type': 'application/json' })
  exchange.response.end(JSON.stringify(body))
}
