const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
}

/** A text with the characters that it names, once: marked reads numbers and leaves the names. */
export const plain = (text: string): string =>
  text.replace(/&(amp|lt|gt|quot|apos|nbsp);/g, (whole, name: string) => NAMED[name] ?? whole)

/** Whether a piece of HTML breaks a line, as models do it within a cell of a table. */
export const isBreak = (html: string): boolean => /^<br\s*\/?>$/i.test(html.trim())
