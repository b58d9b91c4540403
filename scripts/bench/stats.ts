/** The value below which `share` of the samples lie; NaN without samples. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = Float64Array.from(samples).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** The middle sample, or the mean of the two in the middle. */
export function median(samples: readonly number[]): number {
  const sorted = samples.filter(Number.isFinite).toSorted((a, b) => a - b)
  const [below, above] = [(sorted.length - 1) >> 1, sorted.length >> 1]
  return ((sorted[below] ?? Number.NaN) + (sorted[above] ?? Number.NaN)) / 2
}

/** Median over the rounds of one series divided by another; gaps are left out. */
export const ratioOf = (series: readonly number[], reference: readonly number[]): number =>
  median(series.map((value, round) => value / Math.max(0, reference[round] ?? 0)))

/** About three significant digits. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return '-'
  const size = Math.abs(value)
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3)
}

/** Rows of text as columns of equal width, the first left-aligned, the others right-aligned. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  )
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0
        return column === 0 ? cell.padEnd(width) : cell.padStart(width)
      })
      .join('  ')
      .trimEnd()
  const [head = [], ...body] = rows
  const rule = line(widths.map((width) => '-'.repeat(width)))
  return `${[line(head), rule, ...body.map(line)].join('\n')}\n`
}
