import { expect, test } from 'bun:test'
import { waysOf } from './use-versions.ts'

const own = (session_id: string, from_seq: number | null) => ({
  ...{ session_id, from_seq, last_at: '2026-11-23T12:00:00.000Z' },
  ...{ shared_seq: null, next_at: null },
})
/** One that goes on after what it shares with the shown one; `next` tells that turn from others. */
const other = (
  session_id: string,
  from_seq: number | null,
  shared_seq: number,
  next = session_id,
) => ({ ...own(session_id, from_seq), shared_seq, next_at: next })

test('a talk that was never branched has one way', () => {
  expect(waysOf([own('a', null)], 'a').size).toBe(0)
})

test('the ways stand at the turn after the branch, the first one before the others', () => {
  const shown = waysOf([own('a', null), other('br-2', 1, 1), other('br-1', 1, 1)], 'a')
  expect([...shown]).toEqual([[2, { sessions: ['a', 'br-2', 'br-1'], here: 0 }]])
  const second = waysOf([other('a', null, 1), own('br-2', 1), other('br-1', 1, 1)], 'br-2')
  expect([...second]).toEqual([[2, { sessions: ['a', 'br-2', 'br-1'], here: 1 }]])
})

test('a branch before the first question stands at the first turn', () => {
  const ways = waysOf([other('a', null, 0), own('br-1', 0)], 'br-1')
  expect(ways.get(1)).toEqual({ sessions: ['a', 'br-1'], here: 1 })
})

test('a branch of a branch is no way where it goes as the first one went', () => {
  const [first, second] = [own('br-1', 1), other('br-2', 2, 2)]
  expect([...waysOf([other('a', null, 1), first, second], 'br-1')]).toEqual([
    [2, { sessions: ['a', 'br-1'], here: 1 }],
    [3, { sessions: ['br-1', 'br-2'], here: 0 }],
  ])
  const copied = [other('br-1', 1, 1, 'same'), other('br-2', 2, 1, 'same')]
  expect([...waysOf([own('a', null), ...copied], 'a')]).toEqual([
    [2, { sessions: ['a', 'br-1'], here: 0 }],
  ])
  // The one that it was branched from is gone.
  expect(waysOf([own('a', null), other('br-2', 2, 1)], 'a').get(2)?.sessions).toContain('br-2')
})

test('a turn has the same place in all versions that share it', () => {
  const shown = waysOf([other('a', null, 3), other('br-1', 1, 1), own('br-2', 3)], 'br-2')
  expect(shown.get(2)).toEqual({ sessions: ['br-2', 'br-1'], here: 0 })
  expect(shown.get(4)).toEqual({ sessions: ['a', 'br-2'], here: 1 })
})

test('two that were asked at one moment are two ways', () => {
  const both = [other('br-1', 1, 1, 'same'), other('br-2', 1, 1, 'same')]
  expect(waysOf([own('a', null), ...both], 'a').get(2)?.sessions).toHaveLength(3)
})

test('a talk that ends where two were compared from it is no way of the one that was kept', () => {
  const ended = { ...other('a', null, 1), next_at: null }
  expect(waysOf([ended, own('br-1', 1)], 'br-1').size).toBe(0)
})
