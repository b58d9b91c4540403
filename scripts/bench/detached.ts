import { type SignedIn, signIn } from '../../test/support/login.ts'
import { startServer } from '../../test/support/server.ts'
import { tempFolder } from '../../test/support/temp.ts'
import { loadStreams } from './load-sse.ts'
import { cpuSeconds } from './process-usage.ts'
import type { Upstream } from './programs.ts'
import type { Row } from './report.ts'
import { measureCase } from './rounds.ts'

const TOKENS = 200
const PEOPLE = 8
/** A person may have this many detached turns at a time. */
const TURNS_AT_ONCE = 4
const TURNS_EACH = 24
/** Longer than what is counted and logged waits to be written. */
const SETTLE_MS = 1_200

/** Turns at the console that go on when their reader leaves, beside those that end then. */
export async function benchDetached(upstream: Upstream, rounds: number): Promise<Row[]> {
  using folder = tempFolder()
  const env = { MB_LLM_BASE_URL: `${upstream.url}/v1`, MB_LLM_MODEL: 'fake' }
  await using server = await startServer({ dataDir: folder.path, env })
  const people: SignedIn[] = []
  for (let n = 0; n < PEOPLE; n++) people.push(await signIn(server, `person${n}@example.com`))
  let loads = 0

  /** In sessions of its own, so that no turn remembers more than another. */
  async function cost(detached: boolean): Promise<number> {
    const load = loads++
    const before = cpuSeconds(server.pid)
    const results = await Promise.all(
      people.map(({ headers }, person) => {
        const body = (worker: number) => {
          const session_id = `l${load}-p${person}-w${worker}`
          return JSON.stringify({ text: 'hello', session_id, kb: false, detached })
        }
        const target = {
          url: `${server.url}/console/agent`,
          headers,
          format: 'agent',
          body,
        } as const
        return loadStreams(target, {
          streams: TURNS_AT_ONCE,
          requests: TURNS_EACH,
          tokens: TOKENS,
        })
      }),
    )
    await Bun.sleep(SETTLE_MS)
    const turns = results.reduce((sum, { streams }) => sum + streams, 0)
    return ((cpuSeconds(server.pid) - before) * 1e6) / turns
  }

  await upstream.plan({ tokens: TOKENS, delayMs: 5 })
  // A warm-up: the first turns include compilation.
  for (const detached of [false, true]) await cost(detached)
  // Awaited here, because the server ends with this function.
  return await measureCase(rounds, {
    probes: { attached: () => cost(false), detached: () => cost(true) },
    rows: [
      {
        measure: `processor time of a detached turn of ${TOKENS} tokens`,
        unit: 'us',
        product: 'detached',
        reference: ['attached', 'a turn that ends with its reader'],
        of: (micros) => micros,
        target: { atMost: 1.1 },
      },
    ],
  })
}
