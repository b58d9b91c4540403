import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { TranscriptResponse } from '../../src/features/sessions/model.ts'
import type { Call } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { detach } from '../support/detached.ts'
import { postSse } from '../support/sse.ts'
import { startTeam } from '../support/team.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let app: TestApp

beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({ upstream: upstream.baseUrl })
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

const bytesOf = (hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex')
const PNG = bytesOf('89504e470d0a1a0a 0000000d49484452 00000003 00000002 0802000000')
const JPEG = bytesOf('ffd8 ffe00004abcd ffc0001108000400050301220002')
const GIF = bytesOf('474946383961 0600 0700 000000')
const WEBP = Buffer.concat([
  Buffer.from('RIFF\x20\0\0\0WEBPVP8X\x0a\0\0\0', 'latin1'),
  bytesOf('00000000 070000 080000'),
])
const url = (bytes: Uint8Array, type = 'image/png') =>
  `data:${type};base64,${Buffer.from(bytes).toString('base64')}`

interface Ref {
  readonly file_id: string
  readonly width: number
  readonly height: number
}

async function ask(headers: Record<string, string>, images: readonly string[], session = 'a') {
  const body = { text: 'see', session_id: session, images }
  const stream = await postSse(`${app.url}/console/agent`, { headers, body })
  expect((await stream.all()).at(-1)?.event).toBe('llm_end')
}

async function imagesIn(call: Call, session = 'a'): Promise<readonly Ref[]> {
  const answer = await call<TranscriptResponse>('GET', `/console/sessions/${session}/transcript`)
  return answer.json().turns[0]?.details?.images ?? []
}

const picture = (headers: Record<string, string>, id: string) =>
  fetch(`${app.url}/console/files/${id}/image`, { headers })

async function stored(tenantId: string): Promise<number> {
  const statement = { sql: 'SELECT id FROM picture WHERE tenant_id = ?', args: [tenantId] }
  return (await app.db.all(statement)).length
}

describe('pictures of a talk', () => {
  test('are kept with their sizes, and come back as they were sent', async () => {
    const { call, headers } = await startTeam(app)
    const sent = [url(PNG), url(JPEG), url(WEBP), url(GIF, 'image/jpeg')]
    await ask(headers, sent)
    const images = await imagesIn(call)
    expect(images.map(({ width, height }) => [width, height])).toEqual([
      [3, 2],
      [5, 4],
      [8, 9],
      [6, 7],
    ])
    const answer = await picture(headers, images[3]?.file_id ?? '')
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/gif'])
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(answer.headers.get('cache-control')).not.toContain('public')
    expect(new Uint8Array(await answer.arrayBuffer())).toEqual(new Uint8Array(GIF))
  })

  test('are nobody else’s, and no files', async () => {
    const owner = await startTeam(app)
    const editor = await owner.join('editor')
    await ask(editor.headers, [url(PNG)])
    const id = (await imagesIn(editor.call))[0]?.file_id ?? ''
    const stranger = await startTeam(app)
    for (const { headers } of [owner, stranger]) {
      expect((await picture(headers, id)).status).toBe(404)
    }
    for (const { call } of [owner, editor]) {
      const listed = await call<{ files: unknown[] }>('GET', '/console/files')
      expect(listed.json().files).toEqual([])
      const answers = [
        await call('GET', `/console/files/${id}`),
        await call('GET', `/console/files/${id}/text`),
        await call('DELETE', `/console/files/${id}`),
        await call('POST', `/console/files/${id}/keep`),
        await call('POST', '/console/agent', { text: 'x', files: [id] }),
      ]
      expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404])
    }
    expect((await picture(editor.headers, id)).status).toBe(200)
    const { headers } = await app.key(owner.email)
    const machine = await fetch(`${app.url}/v1/sessions/a/transcript`, { headers })
    expect(await machine.text()).not.toContain(id)
  })

  test('that are too large, no pictures or addresses are sent and not kept', async () => {
    const { call, headers } = await startTeam(app)
    const large = Buffer.concat([PNG, Buffer.alloc(5 * 1024 * 1024)])
    const sent = [url(large), url(Buffer.from('<svg/>')), 'https://example.com/a.png', url(PNG)]
    await ask(headers, sent)
    expect(await imagesIn(call)).toHaveLength(1)
    const { body } = await upstream.nextRequest('/chat/completions')
    expect(JSON.stringify(body).split('image_url').length).toBeGreaterThan(4)
  })

  test('live as long as a talk that has them: a branch keeps those of its turns', async () => {
    const { call, headers, tenantId } = await startTeam(app)
    await ask(headers, [url(PNG), url(JPEG)])
    await ask(headers, [url(GIF)])
    expect(await stored(tenantId)).toBe(3)
    const branch = await call<{ session_id: string }>('POST', '/console/sessions/a/branch', {
      seq: 1,
    })
    await call('DELETE', '/console/sessions/a')
    expect(await stored(tenantId)).toBe(2)
    const { session_id: other } = branch.json()
    const kept = await imagesIn(call, other)
    const statuses = () =>
      Promise.all(kept.map(async ({ file_id: id }) => (await picture(headers, id)).status))
    expect(await statuses()).toEqual([200, 200])
    await call('DELETE', `/console/sessions/${other}`)
    expect(await statuses()).toEqual([404, 404])
    expect(await stored(tenantId)).toBe(0)
  })

  test('of a detached turn are there while it runs, and go with one that fails', async () => {
    const { call, headers, tenantId } = await startTeam(app)
    const hold = Promise.withResolvers<void>()
    upstream.reply({ pieces: ['a', 'b'], hold: { after: 1, until: hold.promise } })
    const body = { text: 'see', session_id: 'a', images: [url(PNG)] }
    const stream = await detach(app.url, headers, body)
    await stream.until(({ type }) => type === 'llm_delta')
    interface Detail {
      readonly pending: readonly { readonly files: string[]; readonly images: Ref[] }[]
    }
    const [turn] = (await call<Detail>('GET', '/console/conversations/a')).json().pending
    expect(turn?.images).toMatchObject([{ width: 3, height: 2 }])
    const id = turn?.images[0]?.file_id ?? ''
    expect(turn?.files).toEqual([id])
    expect((await picture(headers, id)).status).toBe(200)
    hold.resolve()
    await stream.all()
    expect((await imagesIn(call))[0]?.file_id).toBe(id)
    upstream.fault(400)
    await (await detach(app.url, headers, { ...body, session_id: 'b' })).all()
    expect(await stored(tenantId)).toBe(1)
  })

  test('go with a member whose talks are deleted, and those of others stay', async () => {
    const owner = await startTeam(app)
    const editor = await owner.join('editor')
    await ask(editor.headers, [url(PNG)])
    expect(await stored(owner.tenantId)).toBe(1)
    await owner.call('DELETE', `/console/members/${editor.id}?talks=delete`)
    expect(await stored(owner.tenantId)).toBe(0)
    const second = await owner.join('viewer')
    await ask(second.headers, [url(PNG)])
    expect(await stored(owner.tenantId)).toBe(1)
  })

  test('count among the files of a tenant; without room they are sent and not kept', async () => {
    const { call, headers, tenantId } = await startTeam(app)
    await ask(headers, [url(PNG)])
    const rows = Array.from({ length: 199 }, (_, index) => ({
      sql: `INSERT INTO picture (id, tenant_id, user_id, turn_id, media_type, width, height, bytes)
        SELECT ?, tenant_id, user_id, ?, media_type, width, height, bytes FROM picture
        WHERE tenant_id = ? AND turn_id IS NULL`,
      args: [`p${index}-${tenantId}`, 'none', tenantId],
    }))
    await app.db.batch(rows)
    const form = new FormData()
    form.set('file', new File(['words'], 'a.txt'))
    const refused = await fetch(`${app.url}/console/files`, { method: 'POST', headers, body: form })
    expect(refused.status).toBe(403)
    await ask(headers, [url(PNG)], 'b')
    expect(await imagesIn(call, 'b')).toEqual([])
  })

  test('are not kept beyond that room by many turns at once', async () => {
    const { headers, tenantId } = await startTeam(app)
    const opened = Array.from({ length: 30 }, () => Promise.withResolvers<void>())
    const all = Promise.withResolvers<void>()
    for (const { resolve } of opened) {
      upstream.reply(() => {
        resolve()
        return { text: 'ok', holdHeaders: all.promise }
      })
    }
    const images = Array.from({ length: 8 }, () => url(PNG))
    const turns = opened.map((_, index) => ask(headers, images, `many${index}`))
    await Promise.all(opened.map(({ promise }) => promise))
    all.resolve()
    await Promise.all(turns)
    expect(await stored(tenantId)).toBe(200)
  })

  test('are not kept where transcripts are not', async () => {
    await using other = await startApp({
      upstream: upstream.baseUrl,
      env: { MB_TRANSCRIPT: 'false' },
    })
    const { headers } = await startTeam(other)
    const body = { text: 'see', session_id: 'a', images: [url(PNG)] }
    await (await postSse(`${other.url}/console/agent`, { headers, body })).all()
    expect(await other.db.all({ sql: 'SELECT id FROM picture', args: [] })).toEqual([])
  })
})
