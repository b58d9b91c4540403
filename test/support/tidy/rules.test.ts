import { describe, expect, test } from 'bun:test'
import { makeTree } from './rule.ts'
import { RULES } from './rules.ts'
import { SAMPLES } from './samples/index.ts'
import { show } from './tree.ts'

const treeOf = (sources: Readonly<Record<string, string>>) =>
  makeTree(Object.entries(sources).map(([path, text]) => ({ path, text })))

describe('tidy rules', () => {
  test('have a sample each', () => {
    expect(SAMPLES.map(({ rule }) => rule)).toEqual(RULES.map(({ name }) => name))
  })

  for (const rule of RULES) {
    const samples = SAMPLES.filter((sample) => sample.rule === rule.name)

    test(`find: ${rule.name}`, () => {
      for (const { bad, expect: places } of samples) {
        const found = rule.check(treeOf(bad))
        expect(found.map(({ path, line }) => `${path}:${line}`)).toEqual([...places])
        for (const finding of found) expect(show(finding)).toMatch(/^\S+:\d+ \S.{10,}/)
      }
    })

    test(`let pass: ${rule.name}`, () => {
      for (const { good } of samples) expect(rule.check(treeOf(good))).toEqual([])
    })
  }

  test('a file that does not parse is named', () => {
    expect(() => treeOf({ 'src/a.ts': 'const = 1' })).toThrow('src/a.ts: ')
  })
})
