import { TOKEN } from './scanner.ts'
import { nowMicros, STAMP_DIGITS } from './stamp.ts'

const HEAD = { id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1_700_000_000 }

const event = (fields: object) =>
  `data: ${JSON.stringify({ ...HEAD, model: 'fake', ...fields })}\n\n`

const chunk = (delta: object, finish: string | null) =>
  event({ choices: [{ index: 0, delta, finish_reason: finish }] })

/** The usage chunk of `stream_options.include_usage`; without it the product has to estimate. */
const USAGE = event({
  choices: [],
  usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
})

/** The first and last chunks of an OpenAI-compatible stream. */
export const OPENING = Buffer.from(chunk({ role: 'assistant', content: '' }, null))
export const CLOSING = Buffer.from(`${chunk({}, 'stop')}${USAGE}data: [DONE]\n\n`)

const DIGITS = '0'.repeat(STAMP_DIGITS)
const TEMPLATE = Buffer.from(chunk({ content: `${TOKEN}${DIGITS} ` }, null))
const STAMP_AT = TEMPLATE.indexOf(DIGITS)

/** One token with the time of its writing; filled into a template, so that the stub is fast. */
export function tokenChunk(): Buffer {
  const bytes = Buffer.from(TEMPLATE)
  bytes.write(nowMicros().toFixed(0), STAMP_AT, 'latin1')
  return bytes
}
