import { inOneLine } from '../../core/text.ts'

/** Characters kept of what an upstream says of a failure, before anything is taken out of it. */
const SAID_CHARS_MAX = 2_000

/** The sentence in the body of a failed answer, as the usual APIs put it; empty without one. */
export function saidIn(body: string): string {
  const text = body.trim()
  if (text === '' || text.startsWith('<')) return ''
  return inOneLine((text.startsWith('{') ? sentenceIn(text) : text).slice(0, SAID_CHARS_MAX))
}

/** A body that was cut off is no JSON, so its sentence is looked for by name. */
function sentenceIn(text: string): string {
  try {
    return wordsOf(JSON.parse(text))
  } catch {
    const quoted = /"(?:message|detail)"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(text)?.[1]
    return quoted === undefined ? '' : unquoted(quoted)
  }
}

/** A string that is no JSON, with a line break for instance, as it stands. */
function unquoted(quoted: string): string {
  try {
    return String(JSON.parse(quoted))
  } catch {
    return quoted.slice(1, -1)
  }
}

const FIELDS = ['error', 'message', 'detail', 'error_msg', 'msg']

function wordsOf(value: unknown, depth = 0): string {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null || depth > 2) return ''
  const fields = value as Readonly<Record<string, unknown>>
  for (const field of FIELDS) {
    const words = wordsOf(fields[field], depth + 1)
    if (words !== '') return words
  }
  return ''
}
