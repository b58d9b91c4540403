import { verify } from '../../test/support/crash.ts'
import { createLedger, randomFrom } from '../../test/support/crash-ledger.ts'
import { Refused, writeUntilDeath } from '../../test/support/crash-load.ts'
import type { Server } from '../../test/support/server.ts'
import { startUpstream } from '../bench/programs.ts'
import type { Scenario } from './scenario.ts'
import { VISITS, visitUntilDeath } from './visits.ts'

const KINDS = ['turns', 'turns', 'docs', 'devices'] as const

/**
 * Turns, documents and short-lived devices, and visits by every door, beside misbehaving clients.
 * After a kill it reads back what the server has acknowledged.
 */
export async function mixed(): Promise<Scenario> {
  const ledger = createLedger()
  const upstream = await startUpstream()
  const base = `${upstream.url}/v1`
  const visited = new Map<string, number>()
  const done = (what: string) => visited.set(what, (visited.get(what) ?? 0) + 1)
  let life = 0
  return {
    env: { MB_TTS_BASE_URL: base, MB_ASR_BASE_URL: base, MB_TRUST_PROXY: '1' },
    residentMibMax: 640,
    async start(servers, headers) {
      life += 1
      const at = (place: number) => servers[place % servers.length] as Server
      const caller = (place: number) => ({
        url: at(place).url,
        headers,
        random: randomFrom(life * KINDS.length + place),
      })
      const faults: string[] = life === 1 ? [] : await verify(caller(0), ledger)
      const work = [
        ...KINDS.map((kind, n) => writeUntilDeath(kind, `l${life}w${n}`, caller(n), ledger)),
        ...Object.values(VISITS).map((visit, n) =>
          visitUntilDeath(visit, { server: at(n), headers, done }),
        ),
        ...servers.map(({ url }) => beRude(url, headers)),
      ]
      for (const one of work) {
        // The clients end with the server; only refusals of the server count as faults.
        one.catch((error: unknown) => error instanceof Refused && faults.push(error.message))
      }
      return {
        progress() {
          const { turns, docs, devices } = ledger.acknowledged
          const visits = [...visited].map(([what, count]) => `, ${count} ${what}`)
          return `${turns} turns, ${docs} documents, ${devices} devices${visits.join('')}`
        },
        stop: async () => faults,
      }
    },
    close: upstream[Symbol.asyncDispose],
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
