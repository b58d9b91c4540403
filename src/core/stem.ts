/**
 * Removes the usual endings of English words, so that a question finds other forms of its words:
 * the first steps of Porter's algorithm (1980). Words of other languages in the same script may
 * lose an ending, too, equally in questions and documents. Stored indexes hold these stems, so a
 * change requires indexing every document again. All steps of Porter found no more in the question
 * sets.
 */
export function stem(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word
  return finish(past(plural(word)))
}

const VOWEL = /[aeiouy]/

function plural(word: string): string {
  if (word.endsWith('sses')) return word.slice(0, -2)
  if (word.endsWith('ies')) return word.length > 4 ? `${word.slice(0, -3)}y` : word.slice(0, -1)
  if (/[^su]s$/.test(word)) return word.slice(0, -1)
  return word
}

function past(word: string): string {
  const ending = /(?:ed|ing)$/.exec(word)?.[0]
  if (!ending) return word
  const rest = word.slice(0, -ending.length)
  if (rest.length < 3 || !VOWEL.test(rest)) return word
  if (/([^aeiouylsz])\1$/.test(rest)) return rest.slice(0, -1)
  return rest
}

/**
 * Drops a final e, as for `make` and `making`, and turns y into i, as for `happy` and `happily`.
 */
function finish(word: string): string {
  if (word.length > 4 && word.endsWith('ly')) return finish(word.slice(0, -2))
  if (word.length > 3 && word.endsWith('e')) return word.slice(0, -1)
  return word.length > 3 && word.endsWith('y') ? `${word.slice(0, -1)}i` : word
}
