import { describe, expect, test } from 'bun:test'
import { createEventReader } from './tts.ts'

const soundOf = (event: unknown) => createEventReader().sound(JSON.stringify(event))

describe('an event of MiniMax', () => {
  test.each([{}, { data: null }, { data: {} }, { data: { audio: null } }, { data: { audio: '' } }])(
    '%j has no sound',
    (event) => {
      expect(soundOf(event)).toEqual(new Uint8Array(0))
    },
  )

  test.each(['abc', '0g', '0', 7, true, {}])('MiniMax audio of %j is refused', (audio) => {
    expect(() => soundOf({ data: { audio } })).toThrow('malformed audio')
  })

  const nested = `{"data":null,"x":${'['.repeat(200_000)}${']'.repeat(200_000)}}`
  test.each(['', '{', '7', 'null', '"text"', nested])(
    'the MiniMax event text %j is refused',
    (text) => {
      expect(() => createEventReader().sound(text)).toThrow('malformed answer')
    },
  )
})
