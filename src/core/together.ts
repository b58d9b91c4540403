import type { Clock } from './clock.ts'

/** Hands each item to `task` within `ms` of its coming, with one timer for all that wait. */
export function together<Item>(
  clock: Pick<Clock, 'after'>,
  ms: number,
  task: (item: Item) => void,
): (item: Item) => void {
  const waiting: Item[] = []
  return (item) => {
    waiting.push(item)
    if (waiting.length > 1) return
    clock.after(ms, () => {
      for (const one of waiting.splice(0)) task(one)
    })
  }
}
