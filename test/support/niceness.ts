import { readdirSync, readFileSync } from 'node:fs'

/** The niceness of each thread of a process (proc(5)). */
export function nicenessOf(pid: number): number[] {
  const tasks = `/proc/${pid}/task`
  return readdirSync(tasks).map((thread) => {
    const stat = readFileSync(`${tasks}/${thread}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16])
  })
}
