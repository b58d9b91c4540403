import { charCount, firstChars } from '../core/text.ts'
import { createStandIns, type StandIns } from './stand-ins.ts'

/** Pictures, flags, skin tones, and their combining characters: selector, joiner, key cap. */
const EMOJI = new RegExp(
  ['\\p{Extended_Pictographic}', '\\p{Regional_Indicator}', '\\p{Emoji_Modifier}']
    .concat('\\u{fe0f}', '\\u{200d}', '\\u{20e3}')
    .join('|'),
  'gu',
)
const LINE_END = /[。！？!?；;…：:，,、.]$/

/**
 * The speakable part of a written reply: without Markdown, emoji, code and addresses, and with a
 * full stop at the end of lines that have no punctuation. One plain line stays unchanged. Reads
 * only as many lines as fill `charsMax`. What stands in place of code and addresses is in the
 * language of the reply, or of `question` where that has no words.
 */
export function speakable(reply: string, charsMax: number, question = ''): string {
  const standIns = createStandIns(question)
  let read = 0
  for (const line of linesOf(reply)) {
    if (line !== CODE) standIns.read(line)
    read += line === CODE ? 0 : line.length
    if (read > charsMax) break
  }
  return spokenWith(standIns.words(), reply, charsMax)
}

/** As `speakable`, with these words in place of code and addresses. */
export function spokenWith(standIns: StandIns, reply: string, charsMax: number): string {
  const spoken: string[] = []
  let chars = 0
  for (const line of linesOf(reply)) {
    const text = line === CODE ? standIns.code : spokenLine(line, standIns)
    if (!/[\p{L}\p{N}]/u.test(text)) continue
    const last = spoken.at(-1)
    if (last !== undefined && !LINE_END.test(last)) spoken[spoken.length - 1] = `${last}。`
    spoken.push(text)
    chars += charCount(text) + 1
    if (chars > charsMax) break
  }
  return shortened(spoken.join('\n'), charsMax)
}

/** A block of code, among lines. */
const CODE = Symbol('code')

/** The lines of a reply; a block of code is one. */
function* linesOf(reply: string): Generator<string | typeof CODE> {
  let inside = false
  for (const [line] of reply.matchAll(/[^\n]+/g)) {
    if (/^\s{0,3}(```|~~~)/.test(line)) {
      inside = !inside
      if (inside) yield CODE
    } else if (!inside) yield line
  }
}

/** Horizontal rules and table rules lose all their characters, and the caller drops them. */
function spokenLine(line: string, { link }: StandIns): string {
  return line
    .trim()
    .replace(/^(#{1,6}\s+|>+\s*|[-*+]\s+)+/, '')
    .replace(/^\[[ xX]\]\s+/, '')
    .replace(/!?\[([^[\]]*)\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+"[^"]*")?\)/g, '$1')
    .replace(/<(https?:[^<>\s]+)>/g, '$1')
    .replace(/\bhttps?:\/\/[\w\-./?%&=#:~+@!$*,;]+/g, link)
    .replace(/<\/?[a-zA-Z][^<>]{0,200}>/g, '')
    .replace(/`+([^`]*)`+/g, '$1')
    .replace(/(\*\*|__|~~)(?=\S)/g, '')
    .replace(/(\*\*|__|~~)/g, '')
    .replace(/(^|[\s，。（(])[*_](?=\S)([^*_]+)[*_](?=$|[\s，。）).,!?！？])/g, '$1$2')
    .replace(/^\||\|$/g, '')
    .replace(/\s+/g, ' ')
    .replace(/ ?\| ?/g, '，')
    .replace(EMOJI, '')
    .replace(/[\\$`*]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
}

/** Cuts after the last sentence that fits. */
function shortened(text: string, charsMax: number): string {
  if (charCount(text) <= charsMax) return text
  const part = firstChars(text, charsMax)
  const end = Math.max(...[...'。！？!?\n'].map((sign) => part.lastIndexOf(sign)))
  return end > part.length / 2 ? part.slice(0, end + 1) : part
}
