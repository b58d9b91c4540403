import { TOKEN } from './scanner.ts'
import { nowMicros, STAMP_DIGITS } from './stamp.ts'

function chunk(delta: object, finish: string | null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }]
  const head = { id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1_700_000_000 }
  return `data: ${JSON.stringify({ ...head, model: 'fake', choices })}\n\n`
}

/** The first and last chunks of an OpenAI-compatible stream. */
export const OPENING = Buffer.from(chunk({ role: 'assistant', content: '' }, null))
export const CLOSING = Buffer.from(`${chunk({}, 'stop')}data: [DONE]\n\n`)

const DIGITS = '0'.repeat(STAMP_DIGITS)
const TEMPLATE = Buffer.from(chunk({ content: `${TOKEN}${DIGITS} ` }, null))
const STAMP_AT = TEMPLATE.indexOf(DIGITS)

/** One token with the time of its writing; filled into a template, so that the stub is fast. */
export function tokenChunk(): Buffer {
  const bytes = Buffer.from(TEMPLATE)
  bytes.write(nowMicros().toFixed(0), STAMP_AT, 'latin1')
  return bytes
}
