import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { buildWeb } from '../../scripts/build-web.ts'
import { startApp } from '../support/app.ts'

const POLICY =
  "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline' 'self'; " +
  "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; connect-src 'none'; " +
  "form-action 'none'; frame-src 'none'; base-uri 'none'; frame-ancestors 'self'"

test('the page of frames is public, kept as assets are, and under its own policy', async () => {
  await buildWeb(join(import.meta.dir, '../../dist/web'))
  await using app = await startApp()
  for (const method of ['GET', 'HEAD']) {
    const { status, headers } = await fetch(`${app.url}/frame`, { method })
    expect(status).toBe(200)
    expect(headers.get('content-security-policy')).toBe(POLICY)
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(headers.get('x-frame-options')).toBeNull()
    expect(headers.get('set-cookie')).toBeNull()
  }
  const page = await (await fetch(app.url)).headers.get('content-security-policy')
  expect(page?.match(/frame-src [^;]+/)?.[0]).toBe("frame-src 'self'")
})

test('a library of drawings comes compressed or plain, as the client reads', async () => {
  await buildWeb(join(import.meta.dir, '../../dist/web'))
  await using app = await startApp()
  const page = await (await fetch(`${app.url}/frame`)).text()
  const path = /\/assets\/vega-\w+\.js/.exec(page)?.[0] ?? ''
  const get = (encoding: string) =>
    fetch(app.url + path, {
      headers: { 'accept-encoding': encoding },
      decompress: false,
    } as RequestInit)
  const packed = await get('gzip, br')
  expect(packed.headers.get('content-encoding')).toBe('gzip')
  expect(packed.headers.get('content-type')).toStartWith('text/javascript')
  const plain = await get('identity')
  expect(plain.headers.get('content-encoding')).toBeNull()
  expect(await plain.text()).toBe(
    new TextDecoder().decode(Bun.gunzipSync(new Uint8Array(await packed.arrayBuffer()))),
  )
  const known = { headers: { 'if-none-match': plain.headers.get('etag') ?? '' } }
  const again = await fetch(app.url + path, {
    headers: { ...known.headers, 'accept-encoding': 'identity' },
  })
  expect(again.status).toBe(304)
  expect((await get('identity')).status).toBe(200)
  expect((await fetch(`${app.url + path}.gz`)).status).toBe(404)
})
