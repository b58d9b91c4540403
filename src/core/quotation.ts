import { randomHex } from './crypto.ts'

/** 2^32 possible words: no text can hold all of them. */
const WORD_BYTES = 4

/**
 * The word in the marks around text of others. Whoever wrote the text cannot know it, and so can
 * neither close the quotation nor open one.
 */
export const quotationWord = (): string => randomHex(WORD_BYTES)

/** The name of a tag with such a word. */
export const quotationTag = (name: string): string => `${name}-${quotationWord()}`
