import { ownKb, residentKb } from './process-usage.ts'
import { type Product, type Program, startReference, type Upstream } from './programs.ts'
import type { Row } from './report.ts'
import { measureCase } from './rounds.ts'

/** A start is short and its time varies, so it is measured more often than the rest. */
const STARTS_PER_ROUND = 3
const IDLE_MS = 1_000

async function measure(start: () => Promise<Program>) {
  await using program = await start()
  await Bun.sleep(IDLE_MS)
  const [idleMb, ownMb] = [residentKb(program.pid) / 1024, ownKb(program.pid) / 1024]
  return { startMs: program.startMs, idleMb, ownMb }
}

/** Time from spawn to the first answer of /healthz on an existing database, and the memory. */
export function benchStart(upstream: Upstream, prepared: Product, rounds: number): Promise<Row[]> {
  const sides = { product: 'product', reference: ['bare', 'bare Bun.serve'] } as const
  return measureCase(rounds * STARTS_PER_ROUND, {
    probes: {
      bare: () => measure(() => startReference('ok', upstream.url)),
      product: () => measure(prepared.start),
    },
    rows: [
      {
        measure: 'start to /healthz',
        unit: 'ms',
        of: ({ startMs }) => startMs,
        target: { atMost: 150 },
        absolute: true,
        ...sides,
      },
      {
        measure: 'memory when idle',
        unit: 'MB',
        of: ({ idleMb }) => idleMb,
        target: { atMost: 90 },
        absolute: true,
        ...sides,
      },
      // The same file has up to six megabytes more or less resident: more where it was written
      // since the machine started, and less where it was read.
      {
        measure: 'of it, no pages of files',
        unit: 'MB',
        of: ({ ownMb }) => ownMb,
        absolute: true,
        ...sides,
      },
    ],
  })
}
