import { appError } from '../../core/errors.ts'
import { RUNS_WAITING_BYTES_MAX, RUNS_WAITING_MAX } from '../../core/limits/contract.ts'
import type { NewRun, RunStore, WaitingBounds } from './run-store.ts'

const WAITING: WaitingBounds = { runs: RUNS_WAITING_MAX, bytes: RUNS_WAITING_BYTES_MAX }
const MIB = 1024 * 1024

/** Lets a run wait for its start. Throws `quota_schedules` and `runs_too_large`. */
export async function queueRun(
  store: Pick<RunStore, 'insert'>,
  run: NewRun,
  bounds: WaitingBounds = WAITING,
): Promise<void> {
  const full = await store.insert(run, bounds)
  if (full === 'runs') throw appError('quota_schedules', { what: 'run', max: bounds.runs })
  if (full === 'bytes') throw appError('runs_too_large', { max: bounds.bytes / MIB })
}
