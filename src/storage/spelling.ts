/** Shorter words resemble too many others. */
const LETTERS_MIN = 5
/** Similar words that are kept; a vocabulary has far fewer of one word. */
export const NEAR_MAX = 20
const WORD = new RegExp(`^\\p{L}{${LETTERS_MIN},}$`, 'u')

const ALPHABETS = [
  'abcdefghijklmnopqrstuvwxyz',
  'абвгдежзийклмнопрстуфхцчшщъыьэюяё',
  'αβγδεζηθικλμνξοπρστυφχψω',
]

/** Whether a term that no entry holds may be a misspelt word. */
export const mayBeMisspelt = (term: string) => WORD.test(term)

/**
 * The words that one slip at a letter makes: the letter left out, exchanged for the next one or
 * another, or another one before it. `at` may be the end of the word.
 */
export function slipsAt(word: string, at: number): string[] {
  const letters = [...word]
  const head = letters.slice(0, at).join('')
  const [own = '', next = '', ...rest] = letters.slice(at)
  const end = rest.join('')
  const alphabet = ALPHABETS.find((some) => some.includes(own || (letters.at(-1) ?? ''))) ?? word
  return [
    head + next + end,
    head + next + own + end,
    ...[...new Set(alphabet)].flatMap((letter) => [
      head + letter + next + end,
      head + letter + own + next + end,
    ]),
  ].filter((slip) => slip !== word)
}

/** One letter too many, too few or another one, or two neighbours the wrong way round. */
export function isOneSlip(a: string, b: string): boolean {
  if (a === b) return false
  const [long, short] = a.length >= b.length ? [a, b] : [b, a]
  let i = 0
  while (i < short.length && long[i] === short[i]) i++
  if (long.length > short.length) return long.slice(i + 1) === short.slice(i)
  const swapped = long[i] === short[i + 1] && long[i + 1] === short[i]
  return (
    long.slice(i + 1) === short.slice(i + 1) ||
    (swapped && long.slice(i + 2) === short.slice(i + 2))
  )
}
