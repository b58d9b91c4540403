import { postSse } from './sse.ts'

/** Turns of one session; those of one group were sent at the same time. */
export interface SentTurn {
  readonly group: number
  readonly text: string
  /** False: the client does not know whether it was stored. */
  acknowledged: boolean
}

export type SentTurns = Map<string, SentTurn[]>

/** The differences between a stored session and the turns that were sent, in words. */
export function compareTurns(id: string, sent: readonly SentTurn[], stored: readonly string[]) {
  const byText = new Map(sent.map((turn) => [turn.text, turn]))
  const faults: string[] = []
  let group = 0
  for (const [at, text] of stored.entries()) {
    const turn = byText.get(text)
    if (!turn) faults.push(`${id}: ${text} was never sent`)
    else if (stored.indexOf(text) !== at) faults.push(`${id}: ${text} is there twice`)
    else if (turn.group < group) faults.push(`${id}: ${text} comes after a later one`)
    group = Math.max(group, turn?.group ?? 0)
  }
  const there = new Set(stored)
  for (const { text, acknowledged } of sent) {
    if (acknowledged && !there.has(text)) faults.push(`${id}: ${text} was acknowledged and is lost`)
  }
  return faults
}

export interface Sending {
  readonly headers: Readonly<Record<string, string>>
  /** The address of one of the servers. */
  readonly someServer: () => string
  readonly random: () => number
}

/** A turn that took longer than any wait for a dead server. */
class Stuck extends Error {}

/** A dead server is waited for 20 s, and its turn may have waited for another one before. */
const TURN_MS_MAX = 60_000

/** Sends a turn; false when it failed. Throws `Stuck`. */
async function send(sending: Sending, session_id: string, text: string): Promise<boolean> {
  const body = { text, session_id, kb: false }
  const stuck = Promise.withResolvers<never>()
  const timer = setTimeout(() => stuck.reject(new Stuck(`${text} has no end`)), TURN_MS_MAX)
  const answer = async () => {
    const { headers, someServer } = sending
    const stream = await postSse(`${someServer()}/v1/agent`, { headers, body })
    const events = await stream.all()
    return events.at(-1)?.data.type === 'llm_end'
  }
  try {
    return await Promise.race([answer(), stuck.promise])
  } catch (error) {
    if (error instanceof Stuck) throw error
    return false
  } finally {
    clearTimeout(timer)
  }
}

const GROUPS = 12

/** Fills sessions until it is told to stop: mostly one turn at a time, sometimes three at once. */
export async function fillSessions(
  name: string,
  sending: Sending,
  sessions: SentTurns,
  stopped: () => boolean,
  onTurn: (ms: number, acknowledged: boolean) => void,
): Promise<void> {
  for (let n = 0; !stopped(); n++) {
    const id = `${name}-${n}`
    const turns: SentTurn[] = []
    sessions.set(id, turns)
    for (let group = 1; group <= GROUPS && !stopped(); group++) {
      const size = sending.random() < 0.25 ? 3 : 1
      const sent = Array.from({ length: size }, (_, i) => {
        const turn = { group, text: `${id}:${group}.${i}`, acknowledged: false }
        turns.push(turn)
        return turn
      })
      await Promise.all(
        sent.map(async (turn) => {
          const begin = performance.now()
          turn.acknowledged = await send(sending, id, turn.text)
          onTurn(performance.now() - begin, turn.acknowledged)
          // A server that is away refuses at once.
          if (!turn.acknowledged) await Bun.sleep(100)
        }),
      )
    }
  }
}
