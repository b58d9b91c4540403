/** What is said in place of a part that nobody wants to hear letter by letter. */
export interface StandIns {
  readonly code: string
  readonly link: string
}

const zh: StandIns = { code: '代码请看文字回复。', link: '链接' }
const en: StandIns = { code: 'The code is in the written answer.', link: 'link' }

const HAN = /\p{Script=Han}/gu
/** Between blanks and marks: not the parts of an address or of a name such as `a.b`. */
const WORDS = /(?<=^|[\s("'])\p{Script=Latin}+(?=[\s,;:!?)"']|\.(?:\s|$)|$)/gu

const countOf = (text: string, what: RegExp): number => text.match(what)?.length ?? 0

/**
 * Finds the language of a text that comes in pieces by what it has more of, Chinese characters or
 * words in Latin letters: a Chinese answer may name many programs. Until the text has either, that
 * of `question` counts; without one it is Chinese.
 */
export function createStandIns(question = '') {
  let han = 0
  let words = 0
  return {
    read(text: string): void {
      han += countOf(text, HAN)
      words += countOf(text, WORDS)
    },
    words(): StandIns {
      if (han + words > 0) return words > han ? en : zh
      return countOf(question, WORDS) > countOf(question, HAN) ? en : zh
    },
  }
}
