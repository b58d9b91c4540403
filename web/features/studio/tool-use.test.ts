import { expect, test } from 'bun:test'
import { withDeclined } from './tool-use.ts'
import { afterEvents, newTurn, withDetails } from './turn.ts'

const no = (tool: string) => ({ tool, action: 'decline' as const, ms: 1_000 })
const marks = (...all: Parameters<typeof withDeclined>) =>
  withDeclined(...all).map(({ declined = false }) => declined)

test('a call that the person declined is told from one that failed', () => {
  const failed = { name: 'home__light', ok: false, result: 'HTTP 500' }
  const declined = { name: 'home__light', ok: false, result: 'Error: declined by the person' }
  expect(marks([failed, declined], [no('light')])).toEqual([false, true])
  expect(marks([declined], [])).toEqual([false])
  expect(marks([declined], [no('lights')])).toEqual([false])
  expect(marks([{ name: 'home__light', ok: false }], [no('light')])).toEqual([true])
  expect(marks([{ name: 'home__light', ok: true }], [no('light')])).toEqual([false])
})

test('it is marked while the answer is written, and when it is read again', () => {
  const ask = { type: 'ask', id: 'q', kind: 'approval', server: 'home', tool: 'light' }
  const events = [
    { type: 'tool_call', name: 'home__light' },
    ask,
    { type: 'ask_done', id: 'q', action: 'decline' },
    { type: 'tool_result', name: 'home__light', ok: false },
  ]
  const turn = newTurn('1', { text: 'Light', images: [] }, 0)
  const live = afterEvents(turn, events as unknown as Parameters<typeof afterEvents>[1], 5)
  expect(live.tools).toEqual([{ name: 'home__light', ok: false, declined: true }])
  expect(live.asked).toEqual([{ tool: 'light', action: 'decline', ms: 0 }])
  const details = { kb_refs: [], asks: [no('light')], tools: [{ name: 'home__light', ok: false }] }
  const row = { seq: 1, details } as unknown as Parameters<typeof withDetails>[1]
  expect(withDetails(turn, row).tools[0]?.declined).toBe(true)
})
