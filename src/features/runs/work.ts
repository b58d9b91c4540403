import { errorFields } from '../../core/log.ts'
import { storedAsExpected } from '../../storage/db.ts'
import type { Outbox } from '../webhooks/outbox.ts'
import { storedWithFailure } from './ending.ts'
import { createRunning, failedWith, type Outcome, type RunParts } from './run.ts'
import type { RunRow } from './run-store.ts'
import type { ScheduleStore } from './schedule-store.ts'

export interface WorkParts extends RunParts {
  readonly schedules: ScheduleStore
  readonly outbox: Outbox
  readonly onEnded: (run: RunRow, outcome: Outcome, ms: number) => void
}

/** Does runs that `holder` has claimed, and ends those whose server is gone. */
export function createWork(parts: WorkParts, holder: string) {
  const { queue, clock, log } = parts
  const run = createRunning(parts)

  /** Stores the end of a run that did not store it itself, and has it told. */
  async function ended(row: RunRow, by: string, outcome: Outcome, ms: number): Promise<void> {
    if (outcome.end.status === 'failed' && !(await storeFailure(parts, row, by, outcome))) return
    parts.onEnded(row, outcome, ms)
    parts.outbox.sent(row.tenant_id)
  }

  /** Does a run that this server has claimed. */
  async function work(row: RunRow, signal: AbortSignal): Promise<void> {
    const begun = clock.steady()
    try {
      const outcome = await run(row, holder, signal)
      if (outcome) await ended(row, holder, outcome, clock.steady() - begun)
    } catch (error) {
      if (!signal.aborted) log.error('run failed', errorFields(error))
      await abandon(row, holder, clock.steady() - begun)
    }
  }

  /** Gives a run back that has not called a model; one that has is over. */
  async function abandon(row: RunRow, by: string, ms: number): Promise<void> {
    if (await queue.release(row.id, by)) return
    await ended(row, by, { end: failedWith('interrupted'), reply: null, channel: null }, ms)
  }

  return { work, abandon }
}

/** False when the run was ended by somebody else. */
async function storeFailure(
  parts: WorkParts,
  row: RunRow,
  holder: string,
  { end }: Outcome,
): Promise<boolean> {
  const also = await storedWithFailure(parts, row, end)
  return await storedAsExpected(parts.queue.end(row.id, holder, end, parts.clock.now(), also))
}
