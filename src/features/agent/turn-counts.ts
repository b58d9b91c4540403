import { type Clock, MINUTE_MS } from '../../core/clock.ts'
import type { Door } from '../../core/doors.ts'

export interface DoorCount {
  readonly door: Door
  readonly turns: number
  readonly failures: number
}

type Kind = 'turns' | 'failures'
type Counted = Map<Door, Record<Kind, number>>

const MINUTES = 60

/** Counts the turns of the last hour at this server, in minutes. */
export function createTurnCounts(clock: Pick<Clock, 'steady'>) {
  const minutes = new Map<number, Counted>()
  const now = () => Math.floor(clock.steady() / MINUTE_MS)

  function forget(): void {
    for (const minute of minutes.keys()) if (minute <= now() - MINUTES) minutes.delete(minute)
  }

  function add(door: Door, kind: Kind): void {
    forget()
    const counted: Counted = minutes.get(now()) ?? new Map()
    minutes.set(now(), counted)
    const row = counted.get(door) ?? { turns: 0, failures: 0 }
    counted.set(door, row)
    row[kind]++
  }

  return {
    began: (door: Door): void => add(door, 'turns'),
    failed: (door: Door): void => add(door, 'failures'),

    /** By the names of the doors; those without a turn are missing. */
    lastHour(): DoorCount[] {
      forget()
      const sums: Counted = new Map()
      for (const counted of minutes.values()) {
        for (const [door, { turns, failures }] of counted) {
          const sum = sums.get(door) ?? { turns: 0, failures: 0 }
          sums.set(door, { turns: sum.turns + turns, failures: sum.failures + failures })
        }
      }
      return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([door, sum]) => ({ door, ...sum }))
    },
  }
}

export type TurnCounts = ReturnType<typeof createTurnCounts>
