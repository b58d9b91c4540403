import { brotliCompressSync } from 'node:zlib'
import { STUB_RATE, sweep } from './stub-voice.ts'

const PAGE_CALLS = 60
const SECONDS_PER_CHARACTER = 0.15
const MINUTE = new Uint8Array(sweep(STUB_RATE, 60).buffer)

/** 51,200 end tags that match none of 999 open elements. */
const PAGE = `${'<b>'.repeat(999)}${'</i>'.repeat(49_000)}`

const events = (deltas: readonly object[]) =>
  deltas
    .map((delta) => `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`)
    .join('')
    .concat('data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')

const stream = (text: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  new Response(text, { headers: { 'content-type': 'text/event-stream', ...headers } })

/** A model that first fetches sixty pages of this server, then answers. */
export async function pagesModel(request: Request): Promise<Response> {
  const { messages } = (await request.json()) as { messages: readonly { role: string }[] }
  if (messages.some(({ role }) => role === 'tool')) return stream(events([{ content: 'read' }]))
  const args = JSON.stringify({ url: new URL('/page', request.url).href })
  const calls = Array.from({ length: PAGE_CALLS }, (_, index) => ({
    index,
    id: `call-${index}`,
    type: 'function',
    function: { name: 'fetch_url', arguments: args },
  }))
  return stream(events([{ tool_calls: calls }]))
}

export const hostilePage = () => new Response(PAGE, { headers: { 'content-type': 'text/html' } })

let packed: Uint8Array<ArrayBuffer> | null = null

/** A model whose compressed answer of some hundred bytes unpacks to 256 MB. */
export async function packedModel(request: Request): Promise<Response> {
  await request.arrayBuffer()
  packed ??= new Uint8Array(brotliCompressSync(Buffer.alloc(256 * 1024 * 1024)))
  return stream(packed, { 'content-encoding': 'br' })
}

/** Speech in proportion to its text, sent at once. */
export async function longSpeech(request: Request): Promise<Response> {
  const { input } = (await request.json()) as { input: string }
  const minutes = Math.ceil((input.length * SECONDS_PER_CHARACTER) / 60)
  const body = new Blob(Array.from({ length: minutes }, () => MINUTE))
  return new Response(body, { headers: { 'content-type': `audio/pcm;rate=${STUB_RATE}` } })
}
