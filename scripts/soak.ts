// Mixed load for minutes on one server, watching its memory and its promptness:
//   bun scripts/soak.ts --minutes 10
// $MOONBASE_BIN names the executable; without it the sources run under this Bun. Exits with 1 when
// memory at the end is more than a fifth above what it was a third of the way in.
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { createLedger, randomFrom } from '../test/support/crash-ledger.ts'
import { writeUntilDeath } from '../test/support/crash-load.ts'
import { createKey } from '../test/support/key.ts'
import { startServer } from '../test/support/server.ts'
import { tempFolder } from '../test/support/temp.ts'

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' } } })
const EVERY_MS = 10_000
const samples = Math.max(6, Math.round((Number(values.minutes) * 60_000) / EVERY_MS))

const residentMib = (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

/** A client that leaves in the middle of a turn, or asks for what is not there, over and over. */
async function beRude(url: string, headers: Record<string, string>): Promise<void> {
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

using folder = tempFolder()
const { headers } = await createKey(folder.path)
const server = await startServer({ dataDir: folder.path })
const caller = { url: server.url, headers, random: randomFrom(1) }
const ledger = createLedger()
const kinds = ['turns', 'turns', 'docs', 'devices'] as const
const load = [
  ...kinds.map((kind, at) => writeUntilDeath(kind, `w${at}`, caller, ledger)),
  beRude(server.url, headers),
].map((work) => work.catch(() => {}))

const memory: number[] = []
for (let sample = 0; sample < samples; sample++) {
  await Bun.sleep(EVERY_MS)
  const begin = performance.now()
  await (await fetch(`${server.url}/healthz`)).text()
  const ms = performance.now() - begin
  memory.push(residentMib(server.pid))
  const { turns, docs, devices } = ledger.acknowledged
  process.stdout.write(
    `${((sample + 1) * EVERY_MS) / 1000} s  ${memory.at(-1)?.toFixed(0)} MiB  healthz ` +
      `${ms.toFixed(1)} ms  ${turns} turns, ${docs} documents, ${devices} devices\n`,
  )
}
const code = await server.stop()
await Promise.all(load)
const early = Math.max(...memory.slice(0, Math.ceil(samples / 3)))
const late = Math.max(...memory.slice(-Math.ceil(samples / 3)))
process.stdout.write(
  `first third at most ${early.toFixed(0)} MiB, last third ${late.toFixed(0)} MiB, ` +
    `stopped with ${code}\n`,
)
process.exit(code === 0 && late < early * 1.2 ? 0 : 1)
