/** Marks of Markdown that stand for nothing else, and what is left of each. */
const MARKS: readonly (readonly [RegExp, string])[] = [
  // The line below the head of a table, and those around code.
  [/^[ \t]*\|?[ \t]*:?-{3,}:?[ \t]*(\|[ \t]*:?-{3,}:?[ \t]*)+\|?[ \t]*(\n|$)/gm, ''],
  [/^[ \t]*(```|~~~)[^\n`]*(\n|$)/gm, ''],
  [/^#{1,6}[ \t]+(.+?)[ \t]*#*$/gm, '$1'],
  [/!?\[([^[\]\n]*)\]\((?:[^()\s]|\([^()\s]*\))+(?:[ \t]+"[^"\n]*")?\)/g, '$1'],
  [/(?<![\w*])\*\*(?=\S)([^\n]*?\S)\*\*(?![\w*])/g, '$1'],
  [/(?<!`)`([^`\n]+)`(?!`)/g, '$1'],
]

/**
 * A passage without the marks of Markdown. Its lines stay as they are: of most sources nobody knows
 * whether they are Markdown at all.
 */
export const plainOf = (text: string): string =>
  MARKS.reduce((rest, [mark, left]) => rest.replace(mark, left), text)
