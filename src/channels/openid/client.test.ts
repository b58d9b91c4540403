import { expect, test } from 'bun:test'
import { createUpstreamFetch } from '../../upstream/net/upstream-call.ts'
import { fetchWith } from './client.ts'

const ask = (answer: Response) =>
  fetchWith(createUpstreamFetch(async () => answer))('https://login.example/', {
    headers: {},
    method: 'GET',
    body: undefined,
    redirect: 'manual',
  })

test('an answer of a login provider is passed on unchanged', async () => {
  const headers = { 'content-type': 'application/json', 'x-other': 'kept' }
  const answer = await ask(Response.json({ issuer: '发行者' }, { status: 400, headers }))
  expect(answer.status).toBe(400)
  expect(answer.headers.get('content-type')).toBe('application/json')
  expect(answer.headers.get('x-other')).toBe('kept')
  expect(await answer.json()).toEqual({ issuer: '发行者' })
})

test('an answer of a login provider without a body is passed on without one', async () => {
  const answer = await ask(new Response(null, { status: 204 }))
  expect([answer.status, answer.body]).toEqual([204, null])
})

test('an endless answer of a login provider is refused and left', async () => {
  let sent = 0
  let left = false
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent += 65_536
      controller.enqueue(new Uint8Array(65_536).fill(0x20))
    },
    cancel() {
      left = true
    },
  })
  const failure = { name: 'IdentityFailure', reason: 'unavailable', code: 'answer_too_large' }
  await expect(ask(new Response(body))).rejects.toMatchObject(failure)
  expect(left).toBe(true)
  expect(sent).toBeLessThan(2 * 1024 * 1024)
})

test("a login provider's answer that nests too deep is not parsed", async () => {
  await expect(ask(new Response('['.repeat(500_000)))).rejects.toMatchObject({
    reason: 'unavailable',
  })
})
