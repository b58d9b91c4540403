import type { Row } from './report.ts'

/** Measures that belong together, and the rows of the report that are read off their results. */
export interface Case<Name extends string, Result> {
  readonly probes: Readonly<Record<Name, () => Promise<Result>>>
  readonly rows: readonly Column<NoInfer<Name>, NoInfer<Result>>[]
}

export interface Column<Name extends string, Result> {
  readonly measure: string
  readonly unit: string
  /** The probe of the product, that of the reference, and the reference's name in the report. */
  readonly product: Name
  readonly reference?: readonly [probe: Name, label: string]
  /** A probe whose value is subtracted from both, round by round. */
  readonly floor?: Name
  readonly of: (result: Result) => number
  readonly target?: Row['target']
  readonly absolute?: boolean
}

/**
 * Runs every probe once a round, in an order that turns round, so that a change of the machine's
 * speed affects all of them.
 */
export async function measureCase<Name extends string, Result>(
  rounds: number,
  { probes, rows }: Case<Name, Result>,
): Promise<Row[]> {
  const names = Object.keys(probes) as Name[]
  const results = new Map<Name, Result[]>(names.map((name) => [name, []]))
  for (let round = 0; round < rounds; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      results.get(name)?.push(await probes[name]())
    }
  }
  return rows.map((column) => {
    const { measure, unit, product, reference, floor, of, target = null, absolute } = column
    const values = (name: Name | undefined) => (name ? (results.get(name) ?? []).map(of) : [])
    const low = values(floor)
    const above = (name: Name | undefined) =>
      values(name).map((value, round) => value - (low[round] ?? 0))
    const [probe, name = ''] = reference ?? []
    return {
      measure,
      unit,
      product: above(product),
      reference: { name, values: above(probe) },
      target,
      absolute: absolute ?? false,
    }
  })
}
