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
