import { expect, test } from 'bun:test'
import type { Talk } from '../../api/talks.ts'
import { grouped, midnightOf } from './groups.ts'

const NOW = new Date(2026, 10, 23, 12)
const talk = (id: string, at: Date, more: Partial<Talk> = {}): Talk => ({
  id,
  title: id,
  turn_count: 1,
  last_at: at.toISOString(),
  app_id: null,
  device_id: null,
  folder: null,
  pinned: false,
  archived: false,
  ...more,
})

test('talks stand under pins, folders, days and months, and keep their order', () => {
  const talks = [
    talk('now', new Date(2026, 10, 23, 11)),
    talk('kept', new Date(2026, 8, 1), { pinned: true }),
    talk('late', new Date(2026, 10, 22, 23, 59)),
    talk('trip', new Date(2026, 10, 20), { folder: 'Travel' }),
    talk('days ago', new Date(2026, 10, 18)),
    talk('in October', new Date(2026, 9, 3)),
    talk('a year ago', new Date(2025, 9, 3)),
    talk('put away', new Date(2026, 10, 23), { archived: true }),
    talk('early', new Date(2026, 10, 23, 0, 1)),
  ]
  expect(
    grouped(talks, midnightOf(+NOW)).map(({ name, talks: of }) => [
      name.kind,
      of.map(({ id }) => id),
    ]),
  ).toEqual([
    ['pinned', ['kept']],
    ['folder', ['trip']],
    ['today', ['now', 'early']],
    ['yesterday', ['late']],
    ['week', ['days ago']],
    ['month', ['in October']],
    ['month', ['a year ago']],
    ['archived', ['put away']],
  ])
})
