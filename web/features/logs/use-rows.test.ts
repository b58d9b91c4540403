import { expect, test } from 'bun:test'
import type { Logs } from '../../api/types.ts'
import { joined } from './use-rows.ts'

test('a row of the log that two pages hold is listed once', () => {
  const page = (...ids: string[]) => ({ logs: ids.map((id) => ({ id })) }) as unknown as Logs
  const rows = joined([page('d', 'c', 'b'), page('c', 'b', 'a')])
  expect(rows.map(({ id }) => id)).toEqual(['d', 'c', 'b', 'a'])
})
