import { expect, test } from 'bun:test'
import { createTurnStore } from './turn-store.ts'

const storageOf = (text: string) => ({ getItem: () => text, setItem() {} }) as unknown as Storage

test.each(['[["a",[{"sta', 'null', '7', '[["a"]]', '[["a",[null]]]'])(
  'turns that a damaged storage keeps are dropped: %s',
  (text) => {
    const store = createTurnStore(storageOf(text))
    expect(store.sessions()).toEqual([])
    expect(store.turnsOf('a')).toEqual([])
  },
)

test('a turn that an earlier page has kept has its files by their names', () => {
  const kept = { id: 't', state: 'failed', turnId: null, reply: '', files: ['a.txt'] }
  const store = createTurnStore(storageOf(JSON.stringify([['a', [kept]]])))
  expect(store.turnsOf('a')[0]?.files).toEqual([{ id: null, name: 'a.txt' }])
})
