import { firstChars } from '../../core/text.ts'
import type { Llm, LlmMessage, LlmPart, LlmRequest, Passage } from '../../upstream/ports/llm.ts'
import { type Phrases, phrasesFor } from './phrases.ts'
import { asksAbilities, toolCallsFor } from './question.ts'

const QUOTES_MAX = 3
const QUOTE_CHARS_MAX = 400

/**
 * Answers while no language model is connected. It quotes the passages it is given, uses the
 * calculator and the clock, and says that it is no model and how to connect one. Deterministic;
 * needs no network.
 */
export function createOfflineChat(): Llm {
  return {
    name: 'offline',
    async open(request, signal) {
      signal.throwIfAborted()
      return answer(request)
    },
  }
}

async function* answer(request: LlmRequest): AsyncGenerator<readonly LlmPart[]> {
  if (request.purpose === 'summary') {
    yield said(extractSummary(request.messages) || '（无）')
    return
  }
  const outcomes = toolOutcomes(request)
  const calls = outcomes.length === 0 ? toolCallsFor(lastText(request), request) : []
  if (calls.length === 0) {
    yield said(replyTo(request, outcomes))
    return
  }
  const parts = calls.map((call): LlmPart => ({ type: 'tool_call', call }))
  yield [...parts, { type: 'finish', reason: 'tool_calls', usage: null }]
}

const said = (text: string): readonly LlmPart[] => [
  { type: 'text', text },
  { type: 'finish', reason: 'stop', usage: null },
]

const lastMessage = ({ messages }: LlmRequest) => messages.findLast(({ role }) => role === 'user')
const lastText = (request: LlmRequest) => lastMessage(request)?.content.trim() ?? ''

interface Outcome {
  readonly name: string
  readonly content: string
}

/** Results of the tools that were called for the last thing the person said. */
function toolOutcomes({ messages }: LlmRequest): Outcome[] {
  const since = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1)
  const calls = since.flatMap((one) => (one.role === 'assistant' ? (one.toolCalls ?? []) : []))
  return since.flatMap((one) => {
    if (one.role !== 'tool') return []
    const name = calls.find(({ id }) => id === one.callId)?.name ?? ''
    return [{ name, content: one.content }]
  })
}

/** The whole answer, in the language of the question. */
function replyTo(request: LlmRequest, outcomes: readonly Outcome[]): string {
  const text = lastText(request)
  const phrases = phrasesFor(text)
  const paragraphs = outcomes.map((outcome) => sentenceOf(outcome, phrases))
  if (request.passages.length > 0) paragraphs.push(quote(request.passages, phrases))
  const answered = paragraphs.length > 0
  if (!answered) paragraphs.push(asksAbilities(text) ? phrases.abilities : refusal(phrases))
  const message = lastMessage(request)
  if (message?.role === 'user' && message.images?.length) paragraphs.push(phrases.cannotSee)
  return [...paragraphs, answered ? phrases.noModelShort : phrases.noModel].join('\n\n')
}

const refusal = ({ self, cannotAnswer }: Phrases) => `${self}\n${cannotAnswer}`

function sentenceOf({ name, content }: Outcome, phrases: Phrases): string {
  if (name === 'current_time') return timeSentence(content, phrases) ?? content
  return content.includes(' = ') ? phrases.calculated(content) : phrases.notCalculated
}

/** The clock tool's `iso` is local time with the offset of its zone. */
function timeSentence(content: string, phrases: Phrases): string | null {
  const [, local] = /"iso":"(\d{4}-\d\d-\d\dT\d\d:\d\d)/.exec(content) ?? []
  const [, zone] = /"time_zone":"([^"]+)"/.exec(content) ?? []
  return local && zone ? phrases.time(new Date(`${local}Z`), zone) : null
}

function quote(passages: readonly Passage[], phrases: Phrases): string {
  const lines = passages.slice(0, QUOTES_MAX).map(({ title, seq, text, page }) => {
    const flat = text.replace(/^#+ /gm, '').replace(/\s+/g, ' ').trim()
    const start = firstChars(flat, QUOTE_CHARS_MAX)
    return `- ${phrases.passage(title, seq + 1, page, start === flat ? flat : `${start}…`)}`
  })
  return [phrases.found, ...lines, '', phrases.foundNote].join('\n')
}

const SENTENCE_CHARS_MAX = 60
const SUMMARY_CHARS_MAX = 800
const SPEAKER = /^\s*(用户|助手|User|Assistant)\s*[:：]\s*/i
const SENTENCE_END = /[。！？!?…\n]|\.(?=\s|$)/u

/**
 * Folds old turns without a model: keeps the first sentence of each message, and the newest ones
 * when they grow too long. The same turns always give the same text, and folding its own output
 * again changes nothing.
 */
function extractSummary(messages: readonly LlmMessage[]): string {
  const lines = messages
    .filter(({ role }) => role === 'user' || role === 'assistant')
    .flatMap(({ role, content }) => summaryLines(role, content))
  const kept: string[] = []
  let length = 0
  for (const line of lines.reverse()) {
    length += line.length + 1
    if (length > SUMMARY_CHARS_MAX && kept.length > 0) break
    kept.push(line)
  }
  return kept.reverse().join('\n')
}

/** A message may hold a whole transcript, in lines that begin with the speaker. */
function summaryLines(role: string, content: string): string[] {
  const marked = content.split('\n').filter((line) => SPEAKER.test(line))
  const lines = marked.length > 0 ? marked : [content]
  return lines.flatMap((line) => {
    const speaker = SPEAKER.exec(line)?.[1] ?? (role === 'assistant' ? '助手' : '用户')
    const sentence = firstSentence(line.replace(SPEAKER, ''))
    return sentence === '' ? [] : [`${speaker}：${sentence}`]
  })
}

function firstSentence(text: string): string {
  const flat = text.trim()
  const end = flat.search(SENTENCE_END)
  const sentence = (end < 0 ? flat : flat.slice(0, end + 1)).trim()
  const start = firstChars(sentence, SENTENCE_CHARS_MAX - 1)
  return start.length < sentence.length - 1 ? `${start}…` : sentence
}
