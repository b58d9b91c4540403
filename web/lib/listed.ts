/** Words one after the other, set apart as the language does it. */
export const listed = (words: readonly string[], locale: string): string =>
  words.join(locale.startsWith('zh') ? '、' : ', ')
