import { TTS_TEXT_CHARS_MAX } from '../../../src/core/limits/contract.ts'

/** A reply as it is spoken: without code, Markdown and numbers of sources. */
export const plainText = (markdown: string): string =>
  markdown
    .replace(/```[\s\S]*?(?:```|$)/g, ' ')
    .replace(/<br\s*\/?>/gi, ' ')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\[\d{1,2}\]/g, '')
    .replace(/^[ \t]*\|?[-:| \t]+$/gm, '')
    .replace(/^[ \t]*(?:#{1,6}|[-*+>])[ \t]+(?:\[[ x]\][ \t]+)?/gm, '')
    .replace(/\*\*|__|~~|`/g, '')
    .replace(/\|/g, ' ')
    .replace(/(?<![\p{L}\p{N}])([*_])(?=\S)([^*_\n]+)\1/gu, '$2')
    .trim()

/** The part of it that the speech service accepts. */
export const spokenText = (markdown: string): string =>
  plainText(markdown).slice(0, TTS_TEXT_CHARS_MAX)
