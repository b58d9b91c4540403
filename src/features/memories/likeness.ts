import { errorFields, type Logger } from '../../core/log.ts'
import type { Question } from '../../core/question.ts'
import type { LiveEmbedding, SharedEmbedder } from '../knowledge/index/embedding.ts'
import { cosine, createKeptVectors, type Told } from './kept-vectors.ts'
import type { Likeness, MemoryStore, Vectored } from './store.ts'

export interface LikenessParts {
  readonly embedding: LiveEmbedding
  readonly store: Pick<MemoryStore, 'putVector'>
  readonly log: Logger
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Float32Array): Uint8Array =>
  new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength)

/** A copy, because the bytes of a row may begin at any address. */
const vectorOf = (bytes: Uint8Array): Float32Array =>
  new Float32Array(Uint8Array.from(bytes).buffer as ArrayBuffer)

/** How like facts are to what was said, by the model of the knowledge base. */
export function createLikeness({ embedding, store, log }: LikenessParts) {
  const kept = createKeptVectors()

  /** Null when the embedder fails. */
  async function tried<Vectors>(
    embed: (shared: SharedEmbedder) => Promise<Vectors>,
    signal?: AbortSignal,
  ): Promise<{ readonly model: string; readonly made: Vectors } | null> {
    try {
      const { shared } = embedding.current
      const made = await embed(shared)
      return { model: await shared.identify(signal), made }
    } catch (error) {
      signal?.throwIfAborted()
      log.warn('memory not embedded', errorFields(error))
      return null
    }
  }

  const embedFacts = (tenantId: string, texts: readonly string[], signal?: AbortSignal) =>
    tried((shared) => shared.embedForSearch(tenantId, texts, 'passage', signal), signal)

  return {
    /** Null when the embedder fails: the fact is then ordered by its time. */
    async of(tenantId: string, text: string, signal?: AbortSignal): Promise<Likeness | null> {
      const told = await embedFacts(tenantId, [text], signal)
      const [vector] = told?.made ?? []
      return told && vector ? { model: told.model, vector: bytesOf(vector) } : null
    },

    /**
     * The cosine of each fact to the question, by id; `load` reads vectors that are not kept.
     * Facts without a vector of the present model get one. Null when the embedder fails.
     */
    async to(
      tenantId: string,
      question: Question,
      facts: readonly Told[],
      load: () => Promise<readonly Vectored[]>,
      signal?: AbortSignal,
    ): Promise<ReadonlyMap<string, number> | null> {
      const asked = await tried((shared) => question.vector(shared), signal)
      const of = asked?.made
      if (!asked || !of) return null
      const { model } = asked
      const knows = (fact: Told) => kept.find(fact, model) !== null
      if (!facts.every(knows)) {
        const texts = new Map(facts.map((fact) => [fact.id, fact.text]))
        for (const { id, vector, vector_model } of await load()) {
          const told = texts.get(id)
          if (told === undefined || vector === null || vector_model !== model) continue
          kept.add({ id, text: told }, model, vectorOf(vector))
        }
      }
      const scores = new Map<string, number>()
      const others: Told[] = []
      for (const fact of facts) {
        const vector = kept.find(fact, model)
        if (vector === null) others.push(fact)
        else scores.set(fact.id, cosine(of, vector))
      }
      if (others.length === 0) return scores
      const texts = others.map((fact) => fact.text)
      const embedded = await embedFacts(tenantId, texts, signal)
      if (embedded?.model !== model) return scores
      await Promise.all(
        others.map(async ({ id, text: told }, index) => {
          const vector = embedded.made[index]
          if (!vector) return
          scores.set(id, cosine(of, kept.add({ id, text: told }, model, vector)))
          await store.putVector(tenantId, id, told, { model, vector: bytesOf(vector) })
        }),
      )
      return scores
    },
  }
}

export type MemoryLikeness = ReturnType<typeof createLikeness>

/** Likeliest first; those without a likeness keep their order, after the others. */
export function byLikeness<Item extends { readonly id: string }>(
  facts: readonly Item[],
  scores: ReadonlyMap<string, number> | null,
): Item[] {
  if (!scores) return [...facts]
  const scoreOf = ({ id }: Item) => scores.get(id) ?? Number.NEGATIVE_INFINITY
  return facts.toSorted((a, b) => {
    const [x, y] = [scoreOf(a), scoreOf(b)]
    return x === y ? 0 : y - x
  })
}
