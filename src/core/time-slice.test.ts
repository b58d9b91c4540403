import { expect, test } from 'bun:test'
import { createLoopTurns, SLICE_MS } from './time-slice.ts'

/** Turns on a clock that each piece of work moves on. */
function start(pieceMs: number) {
  let now = 0
  const inTurn = createLoopTurns(() => now)
  const order: string[] = []
  const piece = (owner: string) =>
    inTurn(owner, async () => {
      now += pieceMs
      order.push(owner)
    })
  return { order, piece }
}

test('other events run whenever the pieces of work have used a time slice', async () => {
  const { order, piece } = start(SLICE_MS / 2)
  const passed: number[] = []
  const look = () => {
    passed.push(order.length)
    if (order.length < 20) setImmediate(look)
  }
  setImmediate(look)
  await Promise.all(Array.from({ length: 20 }, () => piece('many')))
  expect(passed.length).toBeGreaterThanOrEqual(9)
})

test('owners take turns on the event loop piece by piece', async () => {
  const { order, piece } = start(1)
  const many = Array.from({ length: 50 }, () => piece('many'))
  await Promise.all([...many, piece('few')])
  expect(order.indexOf('few')).toBeLessThanOrEqual(2)
})
