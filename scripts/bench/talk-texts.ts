/** Rare words: each stands in one turn of so many. */
const RARE_EVERY = 40_000
const VOCABULARY = 20_000
const CHARACTERS = 2_500

/** Pseudo-random numbers from 0 up to 1, the same in every run. */
export function randomNumbers(): () => number {
  let state = 12_345
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** A word by its rank: frequent ones are short, as in any language. */
export function wordOf(rank: number): string {
  let word = ''
  for (let left = rank + 1; left > 0; left = Math.floor(left / 20)) {
    word += 'tnshrdlcmwfgypbvkjxq'[left % 20] ?? ''
    word += 'eaiou'[left % 5] ?? ''
  }
  return word
}

const characterOf = (rank: number) => String.fromCodePoint(0x4e00 + 7 * rank)

/** The texts of turns, one after another: words by Zipf's law; every fifth turn is Chinese. */
export function writer(): (at: number) => { readonly asked: string; readonly answered: string } {
  const random = randomNumbers()
  const ranked = (count: number) => Math.floor(count ** random()) - 1
  const words = (count: number) =>
    Array.from({ length: count }, () => wordOf(ranked(VOCABULARY))).join(' ')
  const characters = (count: number) =>
    Array.from({ length: count }, () => characterOf(ranked(CHARACTERS))).join('')
  return (at) => {
    const rare = at % RARE_EVERY === 7 ? ' zanzibar' : at % RARE_EVERY === 11 ? ' zeppelin' : ''
    const both = at % (4 * RARE_EVERY) === 13 ? ' zanzibar zeppelin' : ''
    const chinese = at % RARE_EVERY === 15 ? `${characters(8)}鲸鱼歌唱` : characters(24)
    const asked = at % 5 === 0 ? chinese : `${words(12)}${rare}${both}`
    return { asked, answered: at % 5 === 0 ? characters(60) : words(40) }
  }
}
