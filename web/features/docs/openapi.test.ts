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
    expect(groups[0]?.operations[0]).toMatchObject({
      body: null,
      rawBody: 'application/octet-stream',
    })
  })

  test('the API reference names types', () => {
    expect(typeOf({ type: 'string' })).toBe('string')
    expect(typeOf({ type: 'string', nullable: true })).toBe('string | null')
    expect(typeOf({ type: 'array', items: { type: 'string' } })).toBe('string[]')
    expect(typeOf({ type: 'array', items: { enum: ['a', 'b'] } })).toBe('("a" | "b")[]')
    expect(typeOf({ enum: ['skip', 'merge'] })).toBe('"skip" | "merge"')
  })

  test('the API reference makes a body to start from', () => {
    const schema = {
      type: 'object',
      required: ['text', 'items'],
      properties: {
        text: { type: 'string' },
        items: { type: 'array', items: { type: 'string' } },
        kb: { type: 'boolean', default: true },
        persona: { type: 'string' },
      },
    }
    expect(example(schema)).toEqual({ text: '', items: [], kb: true })
  })
})
