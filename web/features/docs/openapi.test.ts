import { describe, expect, test } from 'bun:test'
import { example, groupsOf, typeOf } from './openapi.ts'

const document = {
  paths: {
    '/v1/kb/search': {
      post: {
        summary: 'Search',
        requestBody: {
          content: {
            'application/json': {
              schema: { type: 'object', required: ['q'], properties: { q: { type: 'string' } } },
            },
          },
        },
      },
    },
    '/v1/asr': { post: { requestBody: { content: { 'application/octet-stream': {} } } } },
    '/v1/kb/docs': { get: {}, post: {} },
    '/console/kb/docs': { get: {} },
    '/healthz': { get: {} },
  },
}

describe('API reference', () => {
  test('the API reference groups the operations of one surface by noun', () => {
    const groups = groupsOf(document, '/v1')
    expect(groups.map(({ name, operations }) => [name, operations.length])).toEqual([
      ['asr', 1],
      ['kb', 3],
    ])
    expect(groups[1]?.operations[0]?.method).toBe('POST')
    expect(groups[0]?.operations[0]?.body?.mediaType).toBe('application/octet-stream')
  })

  test('the API reference names types', () => {
    expect(typeOf({ type: 'string' })).toBe('string')
    expect(typeOf({ type: ['string', 'null'] })).toBe('string | null')
    expect(typeOf({ type: 'array', items: { type: 'string' } })).toBe('string[]')
    expect(typeOf({ type: 'array', items: { enum: ['a', 'b'] } })).toBe('("a" | "b")[]')
    expect(typeOf({ enum: ['skip', 'merge'] })).toBe('"skip" | "merge"')
    const parts = { type: 'array', items: { oneOf: [{ type: 'object' }, { type: 'object' }] } }
    expect(typeOf({ anyOf: [{ type: 'string' }, parts] })).toBe('string | object[]')
    expect(typeOf({ const: 1 })).toBe('1')
    expect(typeOf({ not: {} })).toBe('never')
    expect(typeOf({ type: 'string', format: 'binary' })).toBe('bytes')
  })

  test('the API reference makes a body to start from', () => {
    const schema = {
      type: 'object',
      required: ['text', 'items', 'role', 'said', 'parts'],
      properties: {
        text: { type: 'string' },
        role: { const: 'user' },
        said: { anyOf: [{ type: ['string', 'null'] }, { type: 'array' }] },
        parts: { type: 'array', minItems: 1, items: { type: 'integer' } },
        items: { type: 'array', items: { type: 'string' } },
        kb: { type: 'boolean', default: true },
        persona: { type: 'string' },
      },
    }
    expect(example(schema)).toEqual({
      ...{ text: '', role: 'user', said: '', parts: [0], items: [], kb: true },
    })
  })
})
