import { firstChars } from '../../core/text.ts'
import type { LlmMessage } from '../ports/llm.ts'

const SENTENCE_CHARS_MAX = 60
const SUMMARY_CHARS_MAX = 800
const SPEAKER = /^\s*(用户|助手|User|Assistant)\s*[:：]\s*/i
const SENTENCE_END = /[。！？!?…\n]|\.(?=\s|$)/u

/**
 * Folds old turns without a model: the first sentence of what each side said, newest kept when it
 * grows too long. The same turns always give the same text, and folding its own output again
 * changes nothing.
 */
export function extractSummary(messages: readonly LlmMessage[]): string {
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

/** One message may hold a whole transcript, each turn on a line that names its speaker. */
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
