import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let app: TestApp
let key: TestKey

beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({ upstream: upstream.baseUrl })
  key = await app.key()
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

const post = (body: string | Uint8Array<ArrayBuffer> | ReadableStream) =>
  fetch(`${app.url}/v1/agent`, { method: 'POST', headers: key.headers, body })
const SVG = 'data:image/svg+xml;charset=utf-8;base64,PHN2Zy8+'
const withImage = (image: string) => JSON.stringify({ text: 'hi', images: [image] })
const png = (bytes: number) => `data:image/png;base64,${Buffer.alloc(bytes, 1).toString('base64')}`

describe('bodies that are refused with 400', () => {
  const bodies: [string, string, string?][] = [
    ['no JSON', '{bad', 'bad request body'],
    ['nothing', '', 'bad request body'],
    ['a list', '[]', 'bad request body'],
    ['null', 'null', 'bad request body'],
    ['a string', '"hi"', 'bad request body'],
    ['JSON nested without end', '['.repeat(200_000), 'bad request body'],
    ['text missing', '{}', 'text'],
    ['text null', '{"text":null}', 'text'],
    ['text a number', '{"text":1}', 'text'],
    ['text blank', '{"text":" \\n\\t "}', '不能为空'],
    ['text too long', JSON.stringify({ text: '长'.repeat(32_001) }), '32000'],
    ['session_id a number', '{"text":"hi","session_id":7}', 'session_id'],
    ['session_id null', '{"text":"hi","session_id":null}', 'session_id'],
    ['session_id too long', JSON.stringify({ text: 'hi', session_id: 's'.repeat(201) })],
    ['persona a list', '{"text":"hi","persona":[]}', 'persona'],
    ['persona too long', JSON.stringify({ text: 'hi', persona: '长'.repeat(8_001) }), '8000'],
    ['persona_id a number', '{"text":"hi","persona_id":1}', 'persona_id'],
    ['kb a string', '{"text":"hi","kb":"yes"}', 'kb'],
    ['images a string', '{"text":"hi","images":"x"}', 'images'],
    ['an image that is a number', '{"text":"hi","images":[1]}', 'images'],
    ['an http image', '{"text":"hi","images":["http://example.com/a.png"]}', 'https'],
    ['an image on an internal host', '{"text":"hi","images":["https://127.0.0.1/a.png"]}'],
    ['an image at a metadata address', '{"text":"hi","images":["https://169.254.169.254/a"]}'],
    [
      'an image whose host is read in two ways',
      withImage('https://example.com\\@10.0.0.1/a'),
      'https',
    ],
    ['an image with a user name', withImage('https://me@example.com/a.png'), 'https'],
    ['an image that is no image', '{"text":"hi","images":["data:text/html;base64,aGk="]}'],
    ['an image that is no base64', '{"text":"hi","images":["data:image/png;base64,@@@"]}'],
    [
      'base64 that is cut short',
      '{"text":"hi","images":["data:image/png;base64,AAAAA"]}',
      'base64',
    ],
    ['base64 with false padding', '{"text":"hi","images":["data:image/png;base64,AB="]}', 'base64'],
    [
      'base64 with much padding',
      '{"text":"hi","images":["data:image/png;base64,AAA=="]}',
      'base64',
    ],
    ['nine images', JSON.stringify({ text: 'hi', images: Array(9).fill(png(4)) }), '8'],
    ['an image over 10 MB', JSON.stringify({ text: 'hi', images: [png(10 * 2 ** 20 + 1)] }), '10'],
  ]
  for (const [name, body, part] of bodies) {
    test(`an agent request is refused with 400: ${name}`, async () => {
      const response = await post(body)
      expect(response.status).toBe(400)
      expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
      const message = await response.text()
      expect(message).toMatch(/\p{Script=Han}/u)
      expect(message).not.toContain('\n')
      if (part) expect(message).toContain(part)
    })
  }

  test('an agent request of bytes that are not UTF-8 is refused with 400', async () => {
    const response = await post(new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]))
    expect(response.status).toBe(400)
  })
})

describe('bodies that are taken', () => {
  const bodies: [string, object][] = [
    ['text at its limit', { text: '长'.repeat(32_000) }],
    ['astral characters count once', { text: '😀'.repeat(32_000) }],
    ['a persona at its limit', { text: 'hi', persona: '😀'.repeat(8_000) }],
    ['a persona_id of any length', { text: 'hi', persona_id: 'x'.repeat(100_000) }],
    ['a session name at its limit', { text: 'hi', session_id: '名'.repeat(200) }],
    ['unknown fields', { text: 'hi', tenant_id: 'x', future: { a: 1 } }],
    ['an image at its limit', { text: 'hi', images: [png(10 * 2 ** 20)] }],
    ['an https image', { text: 'hi', images: ['https://example.com/a.png'] }],
    ['an image of a type with parameters', { text: 'hi', images: [SVG] }],
    ['an image without padding', { text: 'hi', images: [png(1).replace('==', '')] }],
    ['an empty list of images', { text: 'hi', images: [] }],
    ['null characters and lone surrogates', { text: 'a\u0000b\ud800c' }],
    ['prototype names', JSON.parse('{"text":"hi","__proto__":{"kb":1},"constructor":1}')],
  ]
  for (const [name, body] of bodies) {
    test(`an agent request is accepted: ${name}`, async () => {
      const response = await post(JSON.stringify(body))
      expect(response.status).toBe(200)
      expect(await response.text()).toContain('event: llm_end')
    })
  }
})

describe('bodies over the limit', () => {
  test('an agent request over the limit is 413 by its announced length, unread', async () => {
    const response = await post(new Uint8Array(48 * 2 ** 20 + 1))
    expect(response.status).toBe(413)
    expect(await response.text()).toMatch(/\p{Script=Han}/u)
  })

  test('an agent request of 65 MB is 413 with a sentence, and 401 without a key', async () => {
    const body = new Uint8Array(65 * 2 ** 20)
    const refused = await post(body)
    expect(refused.status).toBe(413)
    expect(refused.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(refused.headers.get('x-request-id')).toBeTruthy()
    expect(await refused.text()).toMatch(/\p{Script=Han}/u)
    expect((await fetch(`${app.url}/v1/agent`, { method: 'POST', body })).status).toBe(401)
  })

  test('an agent request over the limit is 413 without an announced length, too', async () => {
    const chunk = new Uint8Array(2 ** 20).fill(0x20)
    let left = 49
    const stream = new ReadableStream({
      pull: (controller) => (left-- > 0 ? controller.enqueue(chunk) : controller.close()),
    })
    expect((await post(stream)).status).toBe(413)
  })
})
