import { pinyin } from 'pinyin-pro'

export type Language = 'mandarin' | 'english'

export interface Segment {
  readonly language: Language
  /** Input for the program: English unchanged, Mandarin as pinyin with tone digits. */
  readonly text: string
}

const HAN = /\p{Script=Han}/u
/** Starts at a Latin letter and ends before the first character that English does not use. */
const ENGLISH = /\p{Script=Latin}[\p{Script=Latin}\p{M}\d\s!-~‘’“”–—]*/gu
const PAUSES: Readonly<Record<string, string>> = {
  '。': '. ',
  '！': '! ',
  '？': '? ',
  '…': '. ',
  '，': ', ',
  '、': ', ',
  '；': '; ',
  '：': ': ',
  '\n': '. ',
}

/** Splits text by script: each part goes to the voice of its language. */
export function segments(text: string): Segment[] {
  const found: Segment[] = []
  const add = (language: Language, part: string) => {
    const spoken = language === 'mandarin' ? toPinyin(part) : part.trim()
    if (/[\p{L}\p{N}]/u.test(spoken)) found.push({ language, text: spoken })
  }
  if (!HAN.test(text)) {
    add('english', text)
    return found
  }
  let at = 0
  for (const { 0: english, index } of text.matchAll(ENGLISH)) {
    add('mandarin', text.slice(at, index))
    add('english', english)
    at = index + english.length
  }
  add('mandarin', text.slice(at))
  return found
}

/**
 * eSpeak NG 1.51 mispronounces Chinese characters but reads pinyin with tone digits correctly. It
 * reads digits in Mandarin; the digits of a year are separated, to be read one by one.
 */
function toPinyin(text: string): string {
  const years = text.replace(/\d{4}(?=\s*年)/g, (year) => [...year].join(' '))
  const runs = years.matchAll(/\p{Script=Han}+|[^\p{Script=Han}]+/gu)
  return [...runs]
    .map(([run]) => (HAN.test(run) ? syllables(run) : plain(run)))
    .join(' ')
    .replace(/\s+/g, ' ')
    .trim()
}

function syllables(run: string): string {
  return pinyin(run, { toneType: 'num', type: 'array' }).map(spelling).join(' ')
}

/** eSpeak NG numbers the light tone 5 and cannot speak a nasal without a vowel. */
function spelling(syllable: string): string {
  return syllable.replace(/0$/, '5').replace(/^(ng|n|m|hm|hng)(?=\d)/, 'en')
}

function plain(run: string): string {
  return [...run].map((char) => PAUSES[char] ?? (/[\d.,%]/.test(char) ? char : ' ')).join('')
}
