import { loadStreams, type StreamLoad } from './load-sse.ts'
import { cpuSeconds } from './process-usage.ts'
import type { Program } from './programs.ts'

export interface Cost {
  readonly tokensPerCore: number
  readonly turnsPerSecond: number
  /** Processor time of one turn. */
  readonly cpuMicros: number
}

/** What streams cost a program in processor time. */
export async function cost(
  { pid, turns }: Pick<Program, 'pid' | 'turns'>,
  load: StreamLoad,
): Promise<Cost> {
  const before = cpuSeconds(pid)
  const { tokens, streams, seconds } = await loadStreams(turns, load)
  const cpu = cpuSeconds(pid) - before
  return {
    tokensPerCore: tokens / cpu,
    turnsPerSecond: streams / seconds,
    cpuMicros: (cpu * 1e6) / streams,
  }
}
