/** The languages of the manual. */
export const LANGUAGES = ['zh', 'en'] as const

export type Language = (typeof LANGUAGES)[number]
