import { KB_SCORE_MIN } from '../../../core/limits/contract.ts'
import { createQuestion } from '../../../core/question.ts'
import type { VectorIndex, VectorSpace, WordIndex } from '../../../storage/indexes.ts'
import { everything } from '../collections/access.ts'
import { createSearch, type SearchParts } from '../search/search.ts'
import type { FileTextStore } from './store.ts'

export interface FileSearchParts extends Omit<SearchParts, 'store'> {
  readonly texts: Pick<FileTextStore, 'size' | 'passages'>
}

export interface FoundInFile {
  readonly fileId: string
  readonly seq: number
  readonly page: number | null
  readonly heading: string | null
  readonly text: string
  readonly score: number
  /** Whether a turn would show the passage if it were one of the knowledge base. */
  readonly isRelevant: boolean
}

/** The results of one question to each of several parts of an index, best first. */
async function fromAll<One>(
  scopes: readonly string[],
  limit: number,
  rank: (one: One) => number,
  ask: (scope: string) => Promise<readonly One[]>,
): Promise<One[]> {
  const found = (await Promise.all(scopes.map(ask))).flat()
  return found.toSorted((a, b) => rank(b) - rank(a)).slice(0, limit)
}

const vectorsOf = (vectors: VectorIndex, fileIds: readonly string[]): VectorIndex => {
  const within = (space: VectorSpace, fileId: string) => ({ ...space, tenantId: fileId })
  return {
    ...vectors,
    search: (space, query, limit, signal) =>
      fromAll(
        fileIds,
        limit,
        ({ cosine }) => cosine,
        (id) => vectors.search(within(space, id), query, limit, signal),
      ),
    cosines: (space, query, keys, signal) =>
      fromAll(
        fileIds,
        keys.length,
        ({ cosine }) => cosine,
        (id) => vectors.cosines(within(space, id), query, keys, signal),
      ),
  }
}

const wordsOf = (words: WordIndex, fileIds: readonly string[]): WordIndex => ({
  ...words,
  search: (_tenantId, terms, limit, signal) =>
    fromAll(
      fileIds,
      limit,
      ({ coverage }) => coverage,
      (id) => words.search(id, terms, limit, signal),
    ),
})

/**
 * The search of the knowledge base in a few files, whose entries the indexes hold apart: one
 * question to each of them, one order of all that they find. Throws what the embedder throws.
 */
export function createFileSearch({ texts, vectors, words, ...parts }: FileSearchParts) {
  return async function searchFiles(
    tenantId: string,
    fileIds: readonly string[],
    question: string,
    hitsMax: number,
    signal?: AbortSignal,
  ): Promise<FoundInFile[]> {
    const search = createSearch({
      ...parts,
      store: { passages: texts.passages, size: () => texts.size(tenantId, fileIds) },
      vectors: vectorsOf(vectors, fileIds),
      words: wordsOf(words, fileIds),
    })
    const { passages } = await search(
      everything(tenantId),
      createQuestion(tenantId, question, signal),
      signal,
      hitsMax,
    )
    return passages.map(({ doc_id: fileId, seq, page, heading, text, score, relevance }) => ({
      fileId,
      seq,
      page,
      heading,
      text,
      score,
      isRelevant: Math.min(score, relevance) >= KB_SCORE_MIN,
    }))
  }
}

export type FileSearch = ReturnType<typeof createFileSearch>
