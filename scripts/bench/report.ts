import { median, ratioOf, short, table } from './stats.ts'

/** One row of the result: the product and its reference, measured in the same rounds. */
export interface Row {
  readonly measure: string
  readonly unit: string
  /** One value a round. */
  readonly product: readonly number[]
  readonly reference: { readonly name: string; readonly values: readonly number[] }
  /** The target of the ratio, or of the product's value where there is no reference. */
  readonly target: { readonly atMost: number } | { readonly atLeast: number } | null
  /** True when the target applies to the value and not to the ratio. */
  readonly absolute?: boolean
}

const HEAD = ['measure', 'moonbase', 'reference', '', 'ratio', 'target', '']

function verdict({ target }: Row, reached: number): [string, string] {
  if (!target) return ['', '']
  const [sign, bound] = 'atMost' in target ? ['<=', target.atMost] : ['>=', target.atLeast]
  if (Number.isNaN(reached)) return [`${sign} ${bound}`, '-']
  const well = sign === '<=' ? reached <= bound : reached >= bound
  return [`${sign} ${bound}`, well ? 'ok' : 'MISSED']
}

function cells(row: Row): string[] {
  const { measure, unit, product, reference, absolute } = row
  const value = median(product)
  const ratio = ratioOf(product, reference.values)
  return [
    `${measure} (${unit})`,
    short(value),
    short(median(reference.values)),
    reference.name,
    short(ratio),
    ...verdict(row, absolute ? value : ratio),
  ]
}

/** Rows of one suite, under its name. */
export type Section = readonly [name: string, rows: readonly Row[]]

/** The table of every measure with its ratio to the reference of the same run. */
export const report = (sections: readonly Section[]): string =>
  table([HEAD, ...sections.flatMap(([name, rows]) => [[], [name], ...rows.map(cells)])])
