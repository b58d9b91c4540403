import type { IncomingMessage, ServerResponse } from 'node:http'

/** Fields of a recorded chat body; further fields are read by name. */
export interface ChatBody {
  readonly model?: string
  readonly stream?: boolean
  readonly messages: readonly {
    readonly role: string
    readonly content: unknown
    readonly tool_calls?: readonly unknown[]
    readonly tool_call_id?: string
  }[]
  readonly tools?: readonly unknown[]
  readonly [field: string]: unknown
}

export interface Received {
  readonly method: string
  /** Without the `/v1` root and the query, such as `/chat/completions`. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Uint8Array
  /** The JSON body; an empty object when there is none. */
  readonly body: ChatBody
  /** The multipart body; null for other bodies. */
  readonly form: FormData | null
}

export interface Exchange {
  readonly request: Received
  readonly response: ServerResponse
  /** Whether the connection is closed. */
  readonly left: () => boolean
  /** Marks that the server breaks this answer off, so that its end is not counted as an abort. */
  brokenOff?: boolean
}

export async function receive(incoming: IncomingMessage): Promise<Received> {
  const parts: Buffer[] = []
  for await (const part of incoming) parts.push(part as Buffer)
  const bytes = new Uint8Array(Buffer.concat(parts))
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(incoming.headers)) headers[name] = String(value)
  const type = headers['content-type'] ?? ''
  return {
    method: incoming.method ?? '',
    path: new URL(incoming.url ?? '/', 'http://upstream').pathname.replace(/^\/v1(?=\/)/, ''),
    headers,
    bytes,
    body: type.includes('json') ? JSON.parse(new TextDecoder().decode(bytes)) : { messages: [] },
    form: type.startsWith('multipart/')
      ? await new Response(bytes, { headers: { 'content-type': type } }).formData()
      : null,
  }
}
