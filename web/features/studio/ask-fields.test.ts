import { describe, expect, test } from 'bun:test'
import { argumentsOf } from '../tools/arguments.ts'
import { filledFields } from './ask-fields.ts'

const schema = {
  type: 'object',
  required: ['room'],
  properties: {
    room: { type: ['string', 'null'] },
    level: { type: ['integer', 'null'] },
    scene: { enum: ['day', 'night'] },
    note: { type: 'string' },
    on: { type: 'boolean', default: true },
  },
}

const roundTrip = (given: Readonly<Record<string, unknown>>) =>
  argumentsOf(filledFields(schema, given), {})

describe('the arguments that a person allows', () => {
  test.each([
    { room: 'attic', level: 3, scene: 'day', note: 'softly', on: false },
    { room: null, level: null, scene: null, note: null, on: null },
    { room: '', note: '' },
    { room: { floor: 2 }, level: '3', scene: 'dusk', note: ['a'], on: 'yes' },
    { room: 5, level: 2.5, note: '   ', scene: { of: 'day' } },
  ])('stay as the model has given them: %j', (given) => {
    expect(roundTrip(given)).toEqual({ args: given, problems: {} })
  })

  test('are shown as JSON where their field would show another value', () => {
    const fields = filledFields(schema, { room: null, scene: 'dusk', note: { a: 1 } })
    const shown = fields.map(({ name, kind, initial }) => [name, kind, initial])
    expect(shown).toEqual([
      ['room', 'json', 'null'],
      ['level', 'integer', ''],
      ['scene', 'json', '"dusk"'],
      ['note', 'json', '{\n  "a": 1\n}'],
      ['on', 'choice', ''],
    ])
  })

  test('a form that nobody has filled in keeps the defaults of its schema', () => {
    expect(argumentsOf(filledFields(schema, null), {}).args).toEqual({ room: '', on: true })
  })
})
