import type { LlmRequest, Passage } from '../ports/llm.ts'
import { shorten } from './language.ts'
import { PHRASES, type Phrases, type TimeFacts } from './phrases.ts'
import type { Question, ToolOutcome } from './question.ts'

const QUOTES_MAX = 3
const QUOTE_CHARS_MAX = 200
const TITLE_CHARS_MAX = 80
const TOOL_TEXT_CHARS_MAX = 600

/** The whole answer to a question, in its language. */
export function composeReply(
  question: Question,
  request: LlmRequest,
  outcomes: readonly ToolOutcome[],
): string {
  const phrases = PHRASES[question.language]
  const paragraphs = outcomes.map((outcome) => outcomeSentence(outcome, phrases))
  const onlyTools = outcomes.length > 0 && (question.arithmetic?.whole || question.time !== null)
  if (!onlyTools && !question.greeting && request.passages.length > 0) {
    paragraphs.push(quotes(request.passages, question, phrases))
  }
  if (question.greeting) paragraphs.push(`${phrases.greeting}\n${phrases.abilities}`)
  else if (paragraphs.length === 0) paragraphs.push(phrases.cannotAnswer)
  if (question.hasImages) paragraphs.push(phrases.cannotSee)
  paragraphs.push(`${phrases.noModel}\n${phrases.connect}`)
  return paragraphs.join('\n\n')
}

function outcomeSentence({ name, content }: ToolOutcome, phrases: Phrases): string {
  if (name === 'calculator') {
    return content.includes(' = ') ? phrases.calculated(content) : phrases.notCalculated()
  }
  const facts = name === 'current_time' ? timeFacts(content) : null
  if (facts) return phrases.time(facts)
  return phrases.toolSaid(name, shorten(content, TOOL_TEXT_CHARS_MAX))
}

/** Local date and time of the clock tool's `iso`, which carries the offset of its zone. */
function timeFacts(content: string): TimeFacts | null {
  try {
    const { iso, time_zone: zone } = JSON.parse(content)
    const [, date, time] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)/.exec(iso) ?? []
    if (date === undefined || time === undefined || typeof zone !== 'string') return null
    const [year = 0, month = 0, day = 0] = date.split('-').map(Number)
    return { year, month, day, time, zone, weekday: new Date(`${date}T00:00Z`).getUTCDay() }
  } catch {
    return null
  }
}

function quotes(passages: readonly Passage[], question: Question, phrases: Phrases): string {
  const lines = passages.slice(0, QUOTES_MAX).map(({ title, seq, text }) => {
    const quote = excerpt(text, question.text)
    return `- ${phrases.passage(shorten(title, TITLE_CHARS_MAX), seq + 1, quote)}`
  })
  return [phrases.found, ...lines, phrases.foundNote].join('\n')
}

/** The stretch of `text` that shares most letter pairs with the question, on one line. */
function excerpt(text: string, question: string): string {
  const flat = text.replace(/\s+/g, ' ').trim()
  const chars = [...flat]
  if (chars.length <= QUOTE_CHARS_MAX) return flat
  const wanted = pairsOf(question)
  const starts = sentenceStarts(chars)
  const scored = starts.map((start) => {
    const stretch = chars.slice(start, start + QUOTE_CHARS_MAX).join('')
    const pairs = pairsOf(stretch)
    return { start, shared: [...wanted].filter((pair) => pairs.has(pair)).length }
  })
  // Of equals the last one, which begins with the sentence that counts.
  const { start } = scored.reduce((best, one) => {
    return one.shared > 0 && one.shared >= best.shared ? one : best
  })
  const quote = shorten(chars.slice(start).join(''), QUOTE_CHARS_MAX)
  return start > 0 ? `…${quote}` : quote
}

function sentenceStarts(chars: readonly string[]): [number, ...number[]] {
  const after = chars.flatMap((char, index) => (/[。！？!?；;.]/.test(char) ? [index + 1] : []))
  return [0, ...after.filter((start) => start < chars.length - 20)]
}

function pairsOf(text: string): Set<string> {
  const letters = text.toLowerCase().match(/[\p{L}\p{N}]/gu) ?? []
  return new Set(letters.slice(1, 2_000).map((letter, index) => `${letters[index]}${letter}`))
}
