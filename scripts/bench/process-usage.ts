import { readFileSync } from 'node:fs'

/** Linux counts processor time in hundredths of a second for every reader of /proc. */
const TICKS_PER_SECOND = 100

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** A process and those it started. */
function family(pid: number): number[] {
  const children = read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number)
  return [pid, ...children.flatMap(family)]
}

const total = (pid: number, of: (member: number) => number) =>
  family(pid).reduce((sum, member) => sum + of(member), 0)

/** Seconds of processor time that a process, its threads and its children have used; Linux only. */
export function cpuSeconds(pid: number): number {
  return total(pid, (member) => {
    // Fields after the command name in brackets; utime and stime are the 14th and 15th of all.
    const fields = read(`/proc/${member}/stat`).split(') ')[1]?.split(' ') ?? []
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
  })
}

/** Resident memory of a process and its children in KB; Linux only, else NaN. */
export function residentKb(pid: number): number {
  return total(pid, (member) => {
    const resident = read(`/proc/${member}/status`).match(/^VmRSS:\s+(\d+)/m)?.[1]
    // A child that has ended since it was listed holds nothing.
    return resident === undefined && member !== pid ? 0 : Number(resident)
  })
}
