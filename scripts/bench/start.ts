import { residentKb } from './process-usage.ts'
import { type Product, type Program, startReference, type Upstream } from './programs.ts'
import type { Row } from './report.ts'
import { alternate } from './rounds.ts'

/** A start is short and its time varies, so it is measured more often than the rest. */
const STARTS_PER_ROUND = 3
const IDLE_MS = 1_000

async function measure(start: () => Promise<Program>) {
  await using program = await start()
  await Bun.sleep(IDLE_MS)
  return { startMs: program.startMs, idleMb: residentKb(program.pid) / 1024 }
}

/** Time from spawn to the first answer of /healthz on an existing database, and the memory. */
export async function benchStart(
  upstream: Upstream,
  prepared: Product,
  rounds: number,
): Promise<Row[]> {
  const results = await alternate(rounds * STARTS_PER_ROUND, {
    bare: () => measure(() => startReference('ok', upstream.url)),
    product: () => measure(prepared.start),
  })
  const row = (name: string, unit: string, of: 'startMs' | 'idleMb', atMost: number): Row => {
    const values = (program: keyof typeof results) => results[program].map((result) => result[of])
    return {
      measure: name,
      unit,
      product: values('product'),
      reference: { name: 'bare Bun.serve', values: values('bare') },
      target: { atMost },
      absolute: true,
    }
  }
  return [
    row('start to /healthz', 'ms', 'startMs', 150),
    row('memory when idle', 'MB', 'idleMb', 90),
  ]
}
