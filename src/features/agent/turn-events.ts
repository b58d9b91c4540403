import type { FilesOfTurn } from '../files/turn-files.ts'
import type { KbHit } from '../knowledge/model.ts'
import type { Retrieval } from '../knowledge/service.ts'
import type { AgentEvent, KbRef, TurnStats } from './events.ts'
import type { ModelAnswer } from './model-loop.ts'

/** What a turn knows of the documents; null when it did not search them. */
export type Retrieved = Retrieval | 'skipped' | null

/** The passages of files that the model was given, without their text. */
export const fileRefsOf = ({ quoted }: FilesOfTurn) => quoted.map(({ text: _, ...ref }) => ref)

/** The passages of documents that the model was given. */
export const refsOf = (passages: readonly KbHit[]): KbRef[] =>
  passages.map(({ doc_id, title, seq, score, page, heading, url, collection_id }) => ({
    doc_id,
    title,
    seq,
    score,
    page,
    heading,
    url,
    collection_id,
  }))

export const kbRefsEvent = (passages: readonly KbHit[], withTexts: boolean): AgentEvent => ({
  type: 'kb_refs',
  refs: refsOf(passages),
  ...(withTexts ? { texts: passages.map(({ text }) => text) } : {}),
})

/** What the turn cost and who answered. */
export const statsOf = (
  { modelCalls, channel, usage }: ModelAnswer,
  found: Retrieved,
  remembered: number | null = null,
): TurnStats => ({
  type: 'stats',
  iterations: modelCalls,
  channel: channel.label,
  input_tokens: usage.inputTokens,
  output_tokens: usage.outputTokens,
  usage_estimated: usage.isEstimated,
  ...(found === null ? {} : { kb: searchedOf(found) }),
  ...(remembered === null ? {} : { memory: { shown: remembered } }),
})

const searchedOf = (found: Retrieval | 'skipped'): NonNullable<TurnStats['kb']> =>
  found === 'skipped'
    ? found
    : {
        searched: true,
        best: found.best,
        relevance: found.relevance,
        shown: found.passages.length,
        ...(found.collections === null ? {} : { collections: found.collections }),
      }
