import type { LlmMessage } from '../ports/llm.ts'
import { firstSentence } from './language.ts'

const LINE_CHARS_MAX = 60
const SUMMARY_CHARS_MAX = 800
const SPEAKER = /^\s*(用户|助手|User|Assistant)\s*[:：]\s*/i
const HEADING = /^\s*(\S{0,12}[:：]|（无）|\(none\))\s*$/

/**
 * Folds old turns without a model: the first sentence of what each side said, newest kept when it
 * grows too long. The same turns always give the same text, and folding its own output again
 * changes nothing.
 */
export function extractSummary(messages: readonly LlmMessage[]): string {
  const said = messages.filter(({ role }) => role === 'user' || role === 'assistant')
  const lines = said.flatMap(({ role, content }) => spokenLines(role, content))
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
function spokenLines(role: string, content: string): string[] {
  const lines = content.split('\n').filter((line) => line.trim() !== '' && !HEADING.test(line))
  const marked = lines.filter((line) => SPEAKER.test(line))
  if (marked.length === 0) {
    const speaker = role === 'assistant' ? '助手' : '用户'
    const sentence = firstSentence(content, LINE_CHARS_MAX)
    return sentence === '' ? [] : [`${speaker}：${sentence}`]
  }
  return marked.flatMap((line) => {
    const speaker = SPEAKER.exec(line)?.[1] ?? ''
    const sentence = firstSentence(line.replace(SPEAKER, ''), LINE_CHARS_MAX)
    return sentence === '' ? [] : [`${speaker}：${sentence}`]
  })
}
