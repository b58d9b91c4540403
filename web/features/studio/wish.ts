import { ANSWER_WORDS_MAX, ANSWER_WORDS_MIN } from '../../../src/core/limits/contract.ts'
import type { TurnRequest } from '../../api/stream.ts'
import type { TranscriptTurn } from '../../api/types.ts'

/** How one answer is to be, beside what its assistant is set to. */
export type Wish = Pick<TurnRequest, 'model' | 'answer_words'>

type Details = NonNullable<TranscriptTurn['details']>

/** The wish that was stored with an answer; of the model its details tell anyway. */
export const wishIn = ({ answer_words }: Details): Wish | undefined =>
  answer_words === undefined ? undefined : { answer_words }

/** Half and twice the words of an answer; null where that cannot be asked for. */
export const lengthsFor = (words: number) => ({
  shorter: words < 2 * ANSWER_WORDS_MIN ? null : Math.round(words / 2),
  longer: words === 0 || words >= ANSWER_WORDS_MAX ? null : longerThan(words),
})

const longerThan = (words: number) =>
  Math.min(Math.max(2 * words, ANSWER_WORDS_MIN), ANSWER_WORDS_MAX)
