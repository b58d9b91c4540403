import { charCount, firstChars } from '../core/text.ts'
import { spokenWith } from './speech-text.ts'
import { createStandIns } from './stand-ins.ts'

/** Longer sentences are cut at a clause, so that speech begins early. */
const SENTENCE_CHARS_MAX = 60
/** A block of code, among pieces of text. */
const CODE = Symbol('code')

/**
 * The end of a sentence: Chinese marks and line breaks; Latin marks when the next character shows
 * that they are not part of a number, address or word.
 */
const END = /[。！？…]+|[!?]+(?![\w=&/%!?])(?=[\s\S])|\.(?=\s)|\n/g
/** `1.` at the start of a line is the number of an item. */
const ITEM = /^\s*\d{1,3}\.$/
const CLAUSE_END = /[，,、；;：:—](?!\d)|\s/g
const FENCE = /^[ \t]{0,3}(?:```|~~~)/
/** A line that may still become a fence. */
const FENCE_BEGUN = /^[ \t]{0,3}(?:`{0,2}|~{0,2})$/

/**
 * Cuts an answer into speakable sentences while it is written: without Markdown, emoji and code.
 * Call it with each piece of the text; it returns the sentences that are complete. What is said in
 * place of code is in the language of the answer so far, or of `question` where it has no words.
 */
export function createSentences(question = '') {
  const standIns = createStandIns(question)
  let held = ''
  let isCode = false
  let isLineStart = true

  function take(length: number): string {
    const text = held.slice(0, length)
    held = held.slice(length)
    isLineStart = text.endsWith('\n')
    return text
  }

  /** The end of the current sentence; 0 while it is unknown. */
  function endOf(isLast: boolean): number {
    for (const { 0: mark, index } of held.matchAll(END)) {
      const end = index + mark.length
      if (!(isLineStart && ITEM.test(held.slice(0, end)))) return cutOf(end)
    }
    return isLast ? cutOf(held.length) : charCount(held) > SENTENCE_CHARS_MAX ? cutOf(Infinity) : 0
  }

  /** The end of the sentence, or of the last clause that fits when it is too long. */
  function cutOf(end: number): number {
    const first = firstChars(held, SENTENCE_CHARS_MAX)
    if (end <= first.length) return end
    const clauses = [...first.matchAll(CLAUSE_END)]
    const last = clauses.findLast(({ index }) => index >= first.length / 3)
    return last ? last.index + 1 : first.length
  }

  /** The next piece of raw text; null while more of the answer is needed. */
  function next(isLast: boolean): string | typeof CODE | null {
    if (held === '') return null
    const line = held.indexOf('\n') + 1
    if (isLineStart && FENCE.test(held)) {
      if (line === 0 && !isLast) return null
      take(line || held.length)
      isCode = !isCode
      return isCode ? CODE : ''
    }
    if (isCode) {
      if (line === 0 && !isLast) return null
      take(line || held.length)
      return ''
    }
    if (isLineStart && FENCE_BEGUN.test(held) && !isLast) return null
    const end = endOf(isLast)
    return end === 0 ? null : take(end)
  }

  function said(raw: string | typeof CODE): string {
    if (raw === CODE) return standIns.words().code
    standIns.read(raw)
    return spokenWith(standIns.words(), raw, Number.POSITIVE_INFINITY)
  }

  function sentences(isLast: boolean): string[] {
    const complete: string[] = []
    for (let raw = next(isLast); raw !== null; raw = next(isLast)) {
      const text = said(raw)
      if (text !== '') complete.push(text)
    }
    return complete
  }

  return {
    push(text: string): string[] {
      held += text
      return sentences(false)
    },
    /** The remaining sentences at the end of the answer. */
    finish: (): string[] => sentences(true),
  }
}
