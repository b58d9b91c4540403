import { verify } from '../../test/support/crash.ts'
import { createLedger, randomFrom } from '../../test/support/crash-ledger.ts'
import { Refused, writeUntilDeath } from '../../test/support/crash-load.ts'
import type { Scenario } from './scenario.ts'

const KINDS = ['turns', 'turns', 'docs', 'devices'] as const

/**
 * Turns, documents and short-lived devices, beside misbehaving clients. After a kill it reads back
 * what the server has acknowledged.
 */
export async function mixed(): Promise<Scenario> {
  const ledger = createLedger()
  let life = 0
  return {
    env: {},
    residentMibMax: 640,
    async start({ url }, headers) {
      life += 1
      const caller = { url, headers, random: randomFrom(life) }
      const faults: string[] = life === 1 ? [] : await verify(caller, ledger)
      const work = [
        ...KINDS.map((kind, at) => writeUntilDeath(kind, `l${life}w${at}`, caller, ledger)),
        beRude(url, headers),
      ]
      for (const one of work) {
        // The clients end with the server; only refusals of the server count as faults.
        one.catch((error: unknown) => error instanceof Refused && faults.push(error.message))
      }
      return {
        progress() {
          const { turns, docs, devices } = ledger.acknowledged
          return `${turns} turns, ${docs} documents, ${devices} devices`
        },
        stop: async () => faults,
      }
    },
    async close() {},
  }
}

/** A client that repeatedly leaves in the middle of a turn or requests missing rows. */
async function beRude(url: string, headers: Readonly<Record<string, string>>): Promise<void> {
  for (let turn = 0; ; turn++) {
    const leave = new AbortController()
    const body = JSON.stringify({ text: `rude ${turn} 1+1`, session_id: `rude-${turn % 50}` })
    try {
      const answer = await fetch(`${url}/v1/agent`, {
        method: 'POST',
        headers,
        body,
        signal: leave.signal,
      })
      if (turn % 2 === 0) leave.abort()
      await answer.text()
      await fetch(`${url}/v1/sessions/none-${turn}/history`, { headers })
      await fetch(`${url}/nowhere/${turn}`)
      await fetch(`${url}/v1/sessions`, { headers: { authorization: `Bearer wrong-${turn}` } })
    } catch (error) {
      if (!leave.signal.aborted) throw error
    }
  }
}
