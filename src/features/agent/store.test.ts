import { expect, test } from 'bun:test'
import { REFERENCE_CHARS_MAX } from '../../core/limits/contract.ts'
import type { Db, Statement } from '../../storage/db.ts'
import { createTurnContextStore } from './store.ts'

test('a persona id that is longer than any of ours never reaches the database', async () => {
  const asked: Statement[] = []
  const get = async (statement: Statement) => {
    asked.push(statement)
    return null
  }
  const contexts = createTurnContextStore({ get } as unknown as Db)
  for (const extra of [0, 1]) {
    await contexts.load('t', null, 'p'.repeat(REFERENCE_CHARS_MAX + extra))
  }
  const longest = asked.map(({ args }) => Math.max(...args.map((arg) => String(arg).length)))
  expect(longest).toEqual([REFERENCE_CHARS_MAX, 4])
})
