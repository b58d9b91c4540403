import { describe, expect, test } from 'bun:test'
import type { TranscriptTurn } from '../../api/types.ts'
import { createThread } from './thread.ts'
import { newTurn, type Turn } from './turn.ts'

const row = (seq: number, reply: string): TranscriptTurn => ({
  ...{ seq, reply, user_text: `question ${seq}`, details: null },
  created_at: new Date(seq * 1_000).toISOString(),
})
const live = (id: string, more: Partial<Turn>): Turn => ({
  ...newTurn(id, { text: '', images: [] }, 0),
  ...more,
})
const ids = (turns: readonly Turn[]) => turns.map(({ id }) => id)

describe('the thread of a conversation', () => {
  test('a turn of this tab that is stored is shown once, with its number and pictures', () => {
    const mine = live('mine', { text: 'question 2', images: ['x'], state: 'done', reply: 'b' })
    const [, second, ...more] = createThread()([row(2, 'b'), row(1, 'a')], [mine])
    expect(second).toMatchObject({ id: 'mine', seq: 2, images: ['x'] })
    expect(more).toEqual([])
  })

  test('an unchanged turn of a thread is the same object as before', () => {
    const thread = createThread()
    const rows = [row(2, 'b'), row(1, 'a')]
    const mine = live('mine', { text: 'question 2', state: 'done', reply: 'b' })
    const before = thread(rows, [mine, live('now', { reply: 'grow' })])
    const loadedAgain = rows.map((one) => ({ ...one }))
    const after = thread(loadedAgain, [mine, live('now', { reply: 'growing' })])
    expect(after.slice(0, 2).map((turn, at) => turn === before[at])).toEqual([true, true])
  })

  test('a turn that is answered again hides the old one, and shows it after a failure', () => {
    const thread = createThread()
    const replaces = { id: 'seq:2', seq: 2 }
    const rows = [row(2, 'b'), row(1, 'a')]
    expect(ids(thread(rows, [live('new', { replaces, at: 9_000 })]))).toEqual(['seq:1', 'new'])
    const failed = live('new', { replaces, at: 9_000, state: 'failed' })
    expect(ids(thread(rows, [failed]))).toEqual(['seq:1', 'seq:2', 'new'])
  })

  test('a turn that is answered again hides the old one, also before that has a number', () => {
    const old = live('old', { text: 'question 1', state: 'done', reply: 'a', at: 1_000 })
    const anew = live('new', { text: 'question 1', at: 9_000, replaces: { id: 'old', seq: null } })
    expect(ids(createThread()([row(1, 'a')], [old, anew]))).toEqual(['new'])
    const same = { ...anew, state: 'done', reply: 'a' } as const
    const again = { ...row(2, 'a'), user_text: 'question 1' }
    expect(ids(createThread()([again], [old, same]))).toEqual(['new'])
  })

  test('turns of a talk that was deleted are not shown in the one that has its name now', () => {
    const old = live('old', { seq: 1, state: 'done', text: 'question before', reply: 'a' })
    const anew = live('new', { seq: 1, state: 'done', text: 'question 1', reply: 'b' })
    expect(ids(createThread()([row(1, 'b')], [old, anew]))).toEqual(['new'])
    // Older ones may be on a page that is not loaded yet, and newer ones on their way.
    const first = live('first', { seq: 2, state: 'done', at: 1 })
    const last = live('last', { seq: 4, state: 'done', at: 9_000 })
    expect(ids(createThread()([row(3, 'b')], [first, last]))).toEqual(['first', 'seq:3', 'last'])
  })

  test('turns before and after those that are loaded are not shown beside them', () => {
    const thread = createThread()
    const rows = [row(6, 'c'), row(5, 'b')]
    const open = [
      live('stored before', { seq: 2, state: 'done', at: 1 }),
      live('stopped between', { at: 5_500, state: 'stopped' }),
      live('stored after', { seq: 9, state: 'done', at: 9_000 }),
      live('running', { at: 9_500 }),
    ]
    const all = ['stored before', 'seq:5', 'stopped between', 'seq:6', 'stored after', 'running']
    const shown = (hasOlder: boolean, hasNewer: boolean) =>
      ids(thread(rows, open, { hasOlder, hasNewer }))
    expect(shown(false, false)).toEqual(all)
    expect(shown(true, false)).toEqual(all.slice(1))
    expect(shown(false, true)).toEqual(all.slice(0, 4))
  })

  test('an unstored turn is shown at the time when it was asked', () => {
    const stopped = live('stopped', { at: 1_500, state: 'stopped' })
    expect(ids(createThread()([row(2, 'b'), row(1, 'a')], [stopped]))).toEqual([
      ...['seq:1', 'stopped', 'seq:2'],
    ])
  })
})
