import { describe, expect, test } from 'bun:test'
import { convertSchema } from './schema.ts'

const convert = (schema: unknown) => convertSchema(schema)

describe('a converted schema', () => {
  test('references are replaced by what they refer to', () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        who: { $ref: '#/$defs/person', description: 'whom' },
        more: { type: 'array', items: { $ref: '#/definitions/a~1b%20c' } },
      },
      $defs: {
        person: { type: 'object', properties: { name: { $ref: '#/$defs/name' } } },
        name: { type: 'string' },
      },
      definitions: { 'a/b c': { type: 'integer' } },
    }
    expect(convert(schema)).toEqual({
      schema: {
        type: 'object',
        properties: {
          who: {
            type: 'object',
            properties: { name: { type: 'string' } },
            description: 'whom',
          },
          more: { type: 'array', items: { type: 'integer' } },
        },
      },
    })
  })

  test('a property may have the name of a keyword', () => {
    const properties = {
      $ref: { type: 'string' },
      $defs: { type: 'string' },
      default: { $ref: '#/properties/$ref' },
    }
    expect(convert({ type: 'object', properties })).toEqual({
      schema: {
        type: 'object',
        properties: {
          $ref: { type: 'string' },
          $defs: { type: 'string' },
          default: { type: 'string' },
        },
      },
    })
  })

  test('values that look like references stay values', () => {
    const schema = {
      type: 'object',
      properties: { x: { default: { $ref: '#/none' }, enum: [{ $ref: 'b' }] } },
    }
    expect(convert(schema)).toEqual({ schema })
  })

  test('a schema without a type takes an object', () => {
    expect(convert(undefined)).toEqual({ schema: { type: 'object' } })
    expect(convert({ properties: {} })).toEqual({ schema: { type: 'object', properties: {} } })
  })

  test('a member named __proto__ is a member', () => {
    const schema = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}')
    expect(JSON.stringify(convert(schema))).toContain('"__proto__":{"type":"string"}')
  })
})

const chain = (length: number) => ({
  type: 'object',
  properties: { x: { $ref: '#/$defs/d1' } },
  $defs: Object.fromEntries(
    Array.from({ length }, (_, i) => [
      `d${i + 1}`,
      i + 1 === length ? { type: 'string' } : { anyOf: [{ $ref: `#/$defs/d${i + 2}` }] },
    ]),
  ),
})

describe('a schema that cannot be converted', () => {
  test('references nest at most eight deep', () => {
    expect(convert(chain(8))).toHaveProperty('schema')
    expect(convert(chain(9))).toEqual({ unusable: 'too_deep' })
  })

  test.each([
    [5, 'malformed'],
    [[], 'malformed'],
    [{ type: 'string' }, 'no_object'],
    [{ properties: { a: { $ref: '#' } } }, 'recursive'],
    [{ properties: { a: { $ref: '#/properties/b' }, b: { $ref: '#/properties/a' } } }, 'recursive'],
    [{ properties: { a: { $ref: 'other.json' } } }, 'remote_ref'],
    [{ properties: { a: { $ref: 5 } } }, 'remote_ref'],
    [{ properties: { a: { $dynamicRef: '#a' } } }, 'remote_ref'],
    [{ properties: { a: { $ref: '#/$defs/toString' } }, $defs: {} }, 'dangling_ref'],
    [{ properties: { a: { $ref: '#anchor' } } }, 'dangling_ref'],
    [{ properties: { a: { $ref: '#/%' } } }, 'dangling_ref'],
    [{ description: 'x'.repeat(16 * 1024) }, 'too_large'],
    [{ description: '长'.repeat(6_000) }, 'too_large'],
  ])('%j is unusable: %s', (schema, unusable) => {
    expect(convert(schema)).toEqual({ unusable } as never)
  })

  test('a schema that would grow without end is given up while it grows', () => {
    const doubled = Object.fromEntries(
      Array.from({ length: 7 }, (_, i) => {
        const next = { $ref: `#/$defs/d${i + 1}` }
        return [`d${i}`, { anyOf: Array(50).fill(next) }]
      }),
    )
    const $defs = { ...doubled, d7: { type: 'string' } }
    expect(convert({ properties: { x: { $ref: '#/$defs/d0' } }, $defs })).toEqual({
      unusable: 'too_large',
    })
  })
})
