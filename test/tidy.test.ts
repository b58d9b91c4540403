import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { makeTree } from './support/tidy/rule.ts'
import { RULES } from './support/tidy/rules.ts'
import { readTree, show } from './support/tidy/tree.ts'

const tree = makeTree(await readTree(join(import.meta.dir, '..')))

describe('tidy', () => {
  test('reads the repository', () => {
    expect(tree.modules.map(({ path }) => path)).toContain('test/tidy.test.ts')
  })

  for (const rule of RULES) {
    test(rule.name, () => {
      expect(rule.check(tree).map(show)).toEqual([])
    })
  }
})
