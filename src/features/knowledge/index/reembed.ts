import { type Clock, HOUR_MS, MINUTE_MS } from '../../../core/clock.ts'
import { errorFields, type Logger } from '../../../core/log.ts'
import type { Leases } from '../../../storage/shared-state.ts'
import { ChannelFailure } from '../../../upstream/ports/failure.ts'
import type { LiveEmbedding } from './embedding.ts'
import { indexTextsOf } from './index-text.ts'
import type { StaleDoc, StaleStore } from './stale-store.ts'

/** After a failure a document waits a minute, then twice as long each time, up to an hour. */
const WAIT_MS = MINUTE_MS
const WAIT_MS_MAX = HOUR_MS

export interface ReembedParts {
  readonly store: StaleStore
  readonly embedding: LiveEmbedding
  readonly leases: Pick<Leases, 'hold'>
  readonly clock: Clock
  readonly log: Logger
}

/**
 * Embeds and indexes documents again after they were renamed, or the embedding model was changed,
 * one at a time, from their stored text. A restart continues where it stopped. Documents that wait
 * are found by their words.
 */
export function createReembed({ store, embedding, leases, clock, log }: ReembedParts) {
  async function embed(doc: StaleDoc, signal: AbortSignal): Promise<void> {
    const texts = await store.textsOf(doc)
    const embedder = embedding.current.shared
    const indexTexts = indexTextsOf(doc.title, texts)
    const { model, indexed } = await embedder.indexChunks(doc.tenant_id, indexTexts, signal)
    await store.replace(doc, model, indexed)
  }

  async function work(signal: AbortSignal): Promise<void> {
    const model = () => embedding.current.shared.identify(signal)
    const next = async () => store.nextStale(await model(), clock.now())
    if (!(await store.hasDocs())) return
    let done = 0
    for (let doc = await next(); doc && !signal.aborted; doc = await next()) {
      try {
        await embed(doc, signal)
        done++
      } catch (error) {
        if (signal.aborted) return
        log.warn('document not embedded', errorFields(error))
        const wait = Math.min(WAIT_MS_MAX, WAIT_MS * 2 ** doc.embed_attempts)
        await store.postpone(doc, clock.now() + wait)
      }
      if (done % 10 === 1)
        log.info('embedding documents again', await store.countStale(await model()))
    }
    if (done > 0) log.info('embedded documents again', { documents: done })
  }

  /** The endpoint may be away; the next run asks it again. */
  async function workWhereKnown(signal: AbortSignal): Promise<void> {
    try {
      await work(signal)
    } catch (error) {
      if (!(error instanceof ChannelFailure)) throw error
      log.warn('embedding model not known', errorFields(error))
    }
  }

  let running: Promise<unknown> | null = null

  return {
    /** Works until no document is left that may be tried now; called at start and at intervals. */
    run(signal: AbortSignal): Promise<unknown> {
      running ??= leases.hold('embed anew', signal, workWhereKnown).finally(() => {
        running = null
      })
      return running
    },
  }
}
