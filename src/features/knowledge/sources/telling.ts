import { type Statement, sql } from '../../../storage/db.ts'
import type { Outbox } from '../../webhooks/outbox.ts'
import type { SourceFailure } from './failure.ts'
import type { SourceKey } from './row.ts'
import { isGoneAfter, isNow, isWaitingState } from './work-store.ts'

/** A change of a source, and what its webhooks are told of it. */
export interface Change {
  readonly key: SourceKey
  readonly title: string
}

/**
 * Queues what webhooks are told of sources. The statements stand before the one that changes the
 * source, in one batch: their conditions are about what it was. Neither files of a chat nor
 * versions of a source are told.
 */
export function createSourceTelling(outbox: Pick<Outbox, 'telling' | 'sent'>) {
  async function telling(
    event: 'source.ready' | 'source.failed' | 'source.gone',
    { key: { tenant_id, id }, title }: Change,
    error_class: string | null,
    was: Statement,
  ): Promise<Statement[]> {
    const data = { source_id: id, title, error_class }
    return outbox.telling(tenant_id, event, data, isNow({ tenant_id, id }, was))
  }

  /** Sends what is stored by then. */
  async function after<Result>(
    tenantId: string,
    told: readonly Statement[],
    storing: (told: readonly Statement[]) => Promise<Result>,
  ): Promise<Result> {
    const result = await storing(told)
    if (told.length > 0) outbox.sent(tenantId)
    return result
  }

  return {
    /** Makes a source ready by `storing`, which puts what it is given before the change. */
    ready: async <Result>(
      change: Change,
      storing: (told: readonly Statement[]) => Promise<Result>,
    ): Promise<Result> => {
      const told = await telling('source.ready', change, null, sql`state <> 'ready'`)
      return after(change.key.tenant_id, told, storing)
    },

    /** As `ready`, for a failure, which leaves a source with documents as it is. */
    failed: async (
      change: Change,
      { errorClass }: SourceFailure,
      isMissing: boolean,
      storing: (told: readonly Statement[]) => Promise<unknown>,
    ): Promise<void> => {
      const told = [
        ...(await telling('source.failed', change, errorClass, isWaitingState)),
        ...(isMissing ? await telling('source.gone', change, errorClass, isGoneAfter) : []),
      ]
      await after(change.key.tenant_id, told, storing)
    },
  }
}

export type SourceTelling = ReturnType<typeof createSourceTelling>
