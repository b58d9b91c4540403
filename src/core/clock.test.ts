import { expect, test } from 'bun:test'
import { systemClock, watchClock } from './clock.ts'
import { createLogger } from './log.ts'

test('a jump of the clock is logged once with its size, a correction is not', () => {
  let [wall, steady] = [1_000_000, 0]
  let look = () => {}
  const every = (_ms: number, task: () => void) => {
    look = task
    return () => {}
  }
  const lines: string[] = []
  const log = createLogger({
    level: 'info',
    json: true,
    now: () => new Date(0),
    write: (line) => lines.push(line),
  })
  watchClock({ ...systemClock(), now: () => wall, steady: () => steady, every }, log)
  const pass = (ms: number, jump = 0) => {
    steady += ms
    wall += ms + jump
    look()
    return lines.splice(0).map((line) => JSON.parse(line).seconds)
  }
  expect(pass(30_000)).toEqual([])
  expect(pass(30_000, 900)).toEqual([])
  expect(pass(30_000, 3_600_000)).toEqual([3_601])
  expect(pass(30_000)).toEqual([])
  expect(pass(30_000, -86_400_000)).toEqual([-86_400])
})
