import { expect, test } from 'bun:test'
import { waysOf } from './use-versions.ts'

const version = (session_id: string, from_seq: number | null) => ({
  session_id,
  from_seq,
  last_at: '2026-11-23T12:00:00.000Z',
})

test('a talk that was never branched has one way', () => {
  expect(waysOf([version('a', null)], 'a').size).toBe(0)
})

test('the ways stand at the turn after the branch, the first one before the others', () => {
  const versions = [version('a', null), version('br-2', 1), version('br-1', 1)]
  expect([...waysOf(versions, 'a')]).toEqual([[2, { sessions: ['a', 'br-2', 'br-1'], here: 0 }]])
  expect([...waysOf(versions, 'br-2')]).toEqual([[2, { sessions: ['a', 'br-2', 'br-1'], here: 1 }]])
})

test('a branch before the first question stands at the first turn', () => {
  const versions = [version('a', null), version('br-1', 0)]
  expect(waysOf(versions, 'br-1').get(1)).toEqual({ sessions: ['a', 'br-1'], here: 1 })
})

test('a talk that ends where two were compared from it is no way of the one that was kept', () => {
  const versions = [version('a', null), version('br-1', 1)]
  const endedAt = (time: string) => waysOf(versions, 'br-1', new Map([[1, time]])).size
  expect(endedAt('2026-11-23T12:00:00.000Z')).toBe(0)
  expect(endedAt('2026-11-23T11:59:59.999Z')).toBe(1)
})

test('where the first way was deleted, the one that left it last stands in for it', () => {
  const versions = [version('br-1', 1), version('br-2', 3)]
  expect(waysOf(versions, 'br-1').get(2)).toEqual({ sessions: ['br-2', 'br-1'], here: 1 })
  expect(waysOf(versions, 'br-2').get(2)).toEqual({ sessions: ['br-2', 'br-1'], here: 0 })
})
