import { TTS_TEXT_CHARS_MAX } from '../../../src/core/limits/contract.ts'

/** A reply as it is read aloud: without code, marks of Markdown and numbers of sources. */
export const spokenText = (markdown: string): string =>
  markdown
    .replace(/```[\s\S]*?(?:```|$)/g, ' ')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\[\d{1,2}\]/g, '')
    .replace(/^[ \t]*(?:#{1,6}|[-*+>])[ \t]+/gm, '')
    .replace(/[*_`|]+/g, ' ')
    .trim()
    .slice(0, TTS_TEXT_CHARS_MAX)
