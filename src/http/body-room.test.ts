import { expect, test } from 'bun:test'
import { AppError } from '../core/errors.ts'
import { createBodyRoom } from './body-room.ts'

const request = () => new Request('http://localhost/')

/** The status of a refusal, null when there was room. */
function refusal(work: () => void): number | null {
  try {
    work()
    return null
  } catch (error) {
    if (error instanceof AppError && error.headers['retry-after'] === '1') return error.status
    throw error
  }
}

test('an owner gets half of the room, and all owners together no more than there is', () => {
  const room = createBodyRoom(1_000)
  const [first, second, third] = [request(), request(), request()]
  room.take(first, 'a', 300)
  room.take(first, 'a', 200)
  expect(refusal(() => room.take(second, 'a', 1))).toBe(503)
  room.take(second, 'b', 400)
  expect(refusal(() => room.take(third, 'c', 101))).toBe(503)
  room.take(third, 'c', 100)
})

test('an answered request leaves its room to the next', () => {
  const room = createBodyRoom(1_000)
  for (let i = 0; i < 5; i++) {
    const one = request()
    room.take(one, 'a', 250)
    room.take(one, 'a', 250)
    room.answered(one)
  }
  room.answered(request())
})

test.each([
  ['before the request counts as answered', true],
  ['after it', false],
])('a stream that begins %s keeps its body until it ends', (_, early) => {
  const room = createBodyRoom(1_000)
  const one = request()
  room.take(one, 'a', 500)
  const before = early ? room.keep(one) : null
  room.answered(one)
  const letGo = before ?? room.keep(one)
  expect(refusal(() => room.take(request(), 'a', 1))).toBe(503)
  letGo()
  room.take(request(), 'a', 500)
})

test('a stream without a large body keeps nothing', () => {
  const room = createBodyRoom(0)
  room.keep(request())()
})
