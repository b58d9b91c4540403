import { expect, test } from 'bun:test'
import { createTextRoom } from './text-room.ts'

test('when all turns together are too long, the long ones end and the short ones go on', () => {
  const room = createTextRoom(1_000, 100)
  const [long, short] = [room.open(), room.open()]
  long.add(1_000)
  short.add(100)
  expect(() => long.add(1)).toThrow('too much text at a time')
  expect(() => short.add(1)).toThrow('too much text at a time')
  long.close()
  short.add(500)
})

test('a turn that has ended leaves its room, once', () => {
  const room = createTextRoom(1_000, 0)
  for (let i = 0; i < 10; i++) {
    const turn = room.open()
    turn.add(1_000)
    turn.close()
    turn.close()
  }
  expect(() => room.open().add(1_001)).toThrow()
})
