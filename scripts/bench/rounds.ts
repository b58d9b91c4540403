/** Values of several programs, one for each round. */
export type Rounds<Name extends string, Result> = Readonly<Record<Name, readonly Result[]>>

/**
 * Runs every measure once a round, in rotating order, so that a change of the machine's speed
 * affects all of them. Null is a measure that is skipped and has no values.
 */
export async function alternate<Name extends string, Result>(
  rounds: number,
  measures: Readonly<Record<Name, (() => Promise<Result>) | null>>,
): Promise<Rounds<Name, Result>> {
  const names = Object.keys(measures) as Name[]
  const results = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<
    Name,
    Result[]
  >
  for (let round = 0; round < rounds; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const measure = measures[name]
      if (measure) results[name].push(await measure())
    }
  }
  return results
}
