import { setPriority } from 'node:os'

/**
 * Work beside the server runs at this niceness (sched(7)): where cores are few, the server then
 * gets nine times the processor time of such a thread, and streams keep their pace.
 */
const NICENESS = 10

/** Lowers the priority of this process. */
export const lowerProcessPriority = (): void => setPriority(NICENESS)

/** Lowers the priority of this thread. Only Linux has one for each thread; elsewhere it stays. */
export function lowerThreadPriority(): void {
  if (process.platform === 'linux') setPriority(NICENESS)
}
