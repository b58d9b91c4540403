import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { RULES } from './support/tidy/rules.ts'
import { SAMPLES } from './support/tidy/samples.ts'
import { readTree, show } from './support/tidy/tree.ts'

const files = await readTree(join(import.meta.dir, '..'))

const filesOf = (sources: Readonly<Record<string, string>>) =>
  Object.entries(sources).map(([path, text]) => ({ path, text }))

test('the rules read the whole repository', () => {
  expect(files.map(({ path }) => path)).toContain('test/tidy.test.ts')
})

test('every rule has samples', () => {
  expect(SAMPLES.map(({ rule }) => rule)).toEqual(RULES.map(({ name }) => name))
})

describe.each(RULES.map((rule) => [rule.name, rule] as const))('%s', (name, rule) => {
  const samples = SAMPLES.filter((sample) => sample.rule === name)

  test(`the repository keeps the rule: ${name}`, () => {
    expect(rule.check(files).map(show)).toEqual([])
  })

  test(`the rule finds its bad samples: ${name}`, () => {
    for (const { bad, expect: places } of samples) {
      const found = rule.check(filesOf(bad))
      expect(found.map(({ path, line }) => `${path}:${line}`)).toEqual([...places])
    }
  })

  test(`the rule lets its good samples pass: ${name}`, () => {
    for (const { good } of samples) expect(rule.check(filesOf(good))).toEqual([])
  })
})
