import { plainText } from '../studio/spoken.ts'

const SENTENCE_END = /[。！？…]+[”’」』）]*|[.!?]+["')\]]*(?=\s)|\n/g
const CLAUSE_END = /[，、；：,;:](?=\D)/g
/** A longer one is cut at a clause, so that speech begins early. */
const SENTENCE_CHARS_MAX = 160
/** A block of code, also one that still grows. */
const CODE = /^[ \t]{0,3}(`{3,}|~{3,})[\s\S]*?(?:^[ \t]{0,3}\1[^\n]*$|(?![\s\S]))/gm
const SPEAKABLE = /[\p{L}\p{N}]/u

/**
 * Cuts an answer that grows into sentences to speak, without its code and Markdown. An answer that
 * no longer begins as it did has started over: `push` then says so, and begins anew.
 */
export function createSentences() {
  let taken = ''

  function cut(reply: string, isLast: boolean): string[] {
    const rest = reply.slice(taken.length).replace(CODE, (code) => ' '.repeat(code.length))
    const ends = [...rest.matchAll(SENTENCE_END)].map(({ 0: mark, index }) => index + mark.length)
    const end = ends.at(-1) ?? 0
    if (isLast) ends.push(rest.length)
    else if (rest.length - end > SENTENCE_CHARS_MAX) {
      const clause = [...rest.slice(end).matchAll(CLAUSE_END)].at(-1)
      if (clause) ends.push(end + clause.index + 1)
    }
    taken = reply.slice(0, taken.length + (ends.at(-1) ?? 0))
    return ends
      .map((to, at) => plainText(rest.slice(ends[at - 1] ?? 0, to)))
      .filter((text) => SPEAKABLE.test(text))
  }

  return {
    /** The sentences that are complete since the last call. */
    push(reply: string, isLast: boolean): { readonly startedOver: boolean; said: string[] } {
      const startedOver = !reply.startsWith(taken)
      if (startedOver) taken = ''
      return { startedOver, said: cut(reply, isLast) }
    },
  }
}
