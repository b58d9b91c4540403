import { expect, test } from 'bun:test'
import { argumentsOf, type Choice, fieldsOf, objectIn } from './arguments.ts'

const valuesOf = (choices: readonly Choice[]) => choices.map(({ value }) => value).join(' ')

const SCHEMA = {
  type: 'object',
  required: ['room', 'level', 'tags', 'note'],
  properties: {
    room: { type: 'string', description: 'Which room' },
    level: { type: 'integer', default: 5 },
    warmth: { type: ['number', 'null'] },
    on: { anyOf: [{ type: 'boolean' }, { type: 'null' }], default: null, description: 'Whether' },
    mode: { enum: ['soft', 2, null] },
    tags: { type: 'array', items: { type: 'string' } },
    note: { type: 'string' },
    any: {},
  },
}

test('each type of argument has a field of its own', () => {
  const kinds = fieldsOf(SCHEMA).map(({ name, kind, choices, initial, required, description }) =>
    [name, kind, valuesOf(choices), initial, required, description].join('|'),
  )
  expect(kinds).toEqual([
    'room|text|||true|Which room',
    'level|integer||5|true|',
    'warmth|number|||false|',
    'on|choice|true false||false|Whether',
    'mode|choice|"soft" 2 null||false|',
    'tags|json|||true|',
    'note|text|||true|',
    'any|json|||false|',
  ])
  for (const schema of [{}, { properties: null }, { properties: [] }]) {
    expect(fieldsOf(schema)).toEqual([])
  }
})

test('fields and choices have the titles that a schema gives', () => {
  const day = { title: 'Which day', oneOf: [{ const: 'mon', title: 'Monday' }, { const: 'tue' }] }
  const fields = fieldsOf({ properties: { day: { type: 'string', ...day }, hour: { title: ' ' } } })
  expect(fields.map(({ name, label }) => [name, label])).toEqual([
    ['day', 'Which day'],
    ['hour', 'hour'],
  ])
  expect(fields[0]?.choices).toEqual([
    { value: '"mon"', label: 'Monday' },
    { value: '"tue"', label: 'tue' },
  ])
})

test('typed arguments become values, and empty ones are left out', () => {
  const fields = fieldsOf(SCHEMA)
  const typed = { room: ' 12 ', on: 'false', mode: '2', tags: '["a"]', any: '', warmth: '1.5' }
  expect(argumentsOf(fields, typed)).toEqual({
    problems: {},
    args: { room: ' 12 ', level: 5, warmth: 1.5, on: false, mode: 2, tags: ['a'], note: '' },
  })
})

test('a field that holds no value of its type is named', () => {
  const fields = fieldsOf(SCHEMA)
  expect(argumentsOf(fields, { level: '1.5', warmth: 'x', any: '{' }).problems).toEqual({
    ...{ level: 'integer', warmth: 'number', tags: 'missing', any: 'json' },
  })
})

test('all arguments may be written as one object', () => {
  expect(objectIn('{"a":1}')).toEqual({ a: 1 })
  expect(objectIn(' ')).toEqual({})
  for (const text of ['[]', '1', 'null', '{']) expect(objectIn(text)).toBeNull()
})
