import { readFileSync } from 'node:fs'

/** Linux reports processor time in /proc in hundredths of a second. */
const TICKS_PER_SECOND = 100

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** The ids of a process and its children. */
function family(pid: number): number[] {
  const children = read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number)
  return [pid, ...children.flatMap(family)]
}

const total = (pid: number, of: (member: number) => number) =>
  family(pid).reduce((sum, member) => sum + of(member), 0)

/** Processor time in seconds of a process, its threads and its children; Linux only. */
export function cpuSeconds(pid: number): number {
  return total(pid, (member) => {
    // Fields after the command name in brackets; utime and stime are fields 14 and 15 (proc(5)).
    const fields = read(`/proc/${member}/stat`).split(') ')[1]?.split(' ') ?? []
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
  })
}

/** Resident memory of a process and its children in KB; Linux only, else NaN. */
export const residentKb = (pid: number): number => memoryOf(pid, 'VmRSS')

/**
 * The part of it that is no page of a file. The database file is mapped, so what was read of it is
 * resident twice over, and is given up as soon as anything else wants the memory.
 */
export const ownKb = (pid: number): number => memoryOf(pid, 'RssAnon')

function memoryOf(pid: number, field: string): number {
  const line = new RegExp(`^${field}:\\s+(\\d+)`, 'm')
  return total(pid, (member) => {
    const held = read(`/proc/${member}/status`).match(line)?.[1]
    // A child that has ended since it was listed holds nothing.
    return held === undefined && member !== pid ? 0 : Number(held)
  })
}
