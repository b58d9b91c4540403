import { caller } from './api.ts'
import type { Memory } from './memories.ts'

interface Counts {
  facts: number
  misremembered: number
  readonly faults: string[]
}

/** As many as a subject may have, with those that are deleted. */
const FACTS_MAX = 190

type Known = 'told' | 'gone' | 'unsure'

/** Tells and deletes facts while servers die; `urlOf` names any of those that may live. */
export function createFacts(
  urlOf: () => string | undefined,
  headers: Readonly<Record<string, string>>,
) {
  const subject = (round: number) => `crash-${round}`
  const known = new Map<string, Map<string, Known>>()
  /** Null when the server died meanwhile: then nobody knows. */
  const call = async <T>(method: string, path: string, body?: object) =>
    await caller(`${urlOf()}/v1`, headers)<T>(method, path, body).catch(() => null)

  async function tell(round: number, number: number): Promise<void> {
    const facts = known.get(subject(round)) ?? new Map<string, Known>()
    known.set(subject(round), facts)
    const text = `fact ${number}`
    facts.set(text, 'unsure')
    const told = await call<Memory>('POST', '/memories', { subject: subject(round), text })
    if (told?.status !== 201) return
    facts.set(text, 'told')
    if (number % 2 === 0) return
    facts.set(text, 'unsure')
    const removed = await call('DELETE', `/memories/${told.json().id}`)
    if (removed?.status === 200) facts.set(text, 'gone')
  }

  return {
    /** Tells one fact after another, and deletes every second one, until it is stopped. */
    tell(round: number) {
      let isOver = false
      const work = (async () => {
        for (let number = 0; !isOver && number < FACTS_MAX; number++) {
          await tell(round, number)
          await Bun.sleep(50)
        }
      })()
      return {
        stop: () => {
          isOver = true
          return work
        },
      }
    },

    /** Compares what every living server knows with what was acknowledged. */
    async check(counts: Counts): Promise<void> {
      for (const [name, facts] of known) {
        const listed = await call<{ memories: Memory[] }>(
          'GET',
          `/memories?subject=${name}&limit=200`,
        )
        const stored = (listed?.json().memories ?? []).map(({ text }) => text)
        for (const [text, state] of facts) {
          if (state === 'unsure') continue
          counts.facts++
          const times = stored.filter((one) => one === text).length
          if (times === (state === 'told' ? 1 : 0)) continue
          counts.misremembered++
          counts.faults.push(`${name} ${text}: ${state}, found ${times} times`)
        }
        known.delete(name)
      }
    },
  }
}
