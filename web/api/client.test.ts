import { afterEach, expect, test } from 'bun:test'
import { ApiError, call } from './client.ts'
import { tryRequest } from './try-request.ts'

const kept = globalThis.fetch
afterEach(() => {
  globalThis.fetch = kept
})

test.each(['{"error":{"mess', 'null', '"gone"', '{"error":{"message":7}}'])(
  'an error whose JSON is broken is an ApiError without a sentence: %s',
  async (body) => {
    const answer = new Response(body, {
      status: 400,
      headers: { 'content-type': 'application/json' },
    })
    globalThis.fetch = Object.assign(async () => answer, { preconnect() {} })
    const error = await call('GET', '/console/apps').catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({ status: 400, message: '' })
  },
)

test('a request of the reference that reaches no server says so', async () => {
  const refused = async () => Promise.reject(new TypeError('Failed to fetch'))
  globalThis.fetch = Object.assign(refused, { preconnect() {} })
  const error = await tryRequest('GET', '/v1/apps', {}, null).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ name: 'ApiError', status: 0 })
})
