import type { TestApp } from './app.ts'

/** What a board is told when it starts. */
export interface Start {
  readonly status: number
  readonly server_time: { readonly timestamp: number; readonly timezone_offset: number }
  readonly firmware: { readonly version: string; readonly url: string }
  readonly websocket: { readonly url: string; readonly token: string; readonly version?: number }
  readonly activation?: {
    readonly code: string
    readonly message: string
    readonly challenge: string
    readonly timeout_ms: number
  }
}

export interface BoardOptions {
  readonly mac?: string
  readonly clientId?: string
  readonly headers?: Readonly<Record<string, string>>
}

let boards = 0

/** The requests of a stock board at its start. */
export function startingBoard(app: Pick<TestApp, 'url'>, options: BoardOptions = {}) {
  const number = String(++boards).padStart(2, '0')
  const { mac = `AA:BB:CC:DD:EE:${number}`, clientId = crypto.randomUUID() } = options
  const headers: Readonly<Record<string, string>> = {
    'device-id': mac,
    'client-id': clientId,
    'activation-version': '1',
    'user-agent': 'bread-compact-wifi/2.4.2',
    'content-type': 'application/json',
    ...options.headers,
  }
  const body = JSON.stringify({
    version: 2,
    mac_address: mac,
    uuid: clientId,
    application: { name: 'xiaozhi', version: '2.4.2' },
    board: { type: 'bread-compact-wifi', ip: '192.168.1.9' },
  })
  return {
    mac,
    clientId,
    headers,
    async start(code: string | null = null, init: RequestInit = {}): Promise<Start> {
      const path = code === null ? '/xiaozhi/' : `/xiaozhi/${code}/`
      const answer = await fetch(app.url + path, { method: 'POST', headers, body, ...init })
      return { ...(await answer.json()), status: answer.status }
    },
    async activate(code: string | null = null): Promise<number> {
      const path = code === null ? '/xiaozhi/activate' : `/xiaozhi/${code}/activate`
      return (await fetch(app.url + path, { method: 'POST', headers, body: '{}' })).status
    },
  }
}

export type StartingBoard = ReturnType<typeof startingBoard>
