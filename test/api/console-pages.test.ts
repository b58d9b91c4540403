import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { buildWeb } from '../../scripts/build-web.ts'
import { MANUAL_PATHS } from '../../src/core/manual.ts'
import { startApp, type TestApp } from '../support/app.ts'

let app: TestApp
let asset = ''

beforeAll(async () => {
  await buildWeb(join(import.meta.dir, '../../dist/web'))
  app = await startApp()
  const page = await (await fetch(app.url)).text()
  asset = /\/assets\/main-\w+\.js/.exec(page)?.[0] ?? ''
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
})

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(app.url + path, { headers, decompress: false, redirect: 'manual' } as RequestInit)

describe('pages of the console', () => {
  test.each(['/', '/login', ...MANUAL_PATHS, '/app', '/app/', '/app/kb', '/app/apps/some-id'])(
    'the page %p is served',
    async (path) => {
      const response = await get(path)
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(await response.text()).toContain('id="root"')
    },
  )

  test.each([
    ['/console/nothing', 404],
    ['/v1/nothing', 404],
    ['/auth/nothing', 404],
    ['/nothing', 404],
    ['/apple', 404],
    ['/docs/nothing', 404],
    ['/assets/', 404],
    ['/assets/nothing.js', 404],
    ['/assets/..%2findex.html', 404],
    ['/assets/%2e%2e/index.html', 404],
    ['/index.html', 404],
  ])('the unknown API path %p is answered as an error, not as a page', async (path, status) => {
    const response = await get(path)
    expect(response.status).toBe(status)
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  })

  test.each(['/nothing', '/apple', '/docs/nothing', '/index.html'])(
    'the unknown page %p is 404 with the console page for a browser',
    async (path) => {
      const response = await get(path, { accept: 'text/html,*/*;q=0.8' })
      expect(response.status).toBe(404)
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
      expect(response.headers.get('x-request-id')).toBeTruthy()
      expect(await response.text()).toContain('id="root"')
    },
  )

  test.each(['/v1/nothing', '/console/nothing', '/auth/nothing', '/assets/nothing.js'])(
    'the unknown API path %p is a plain text error for a browser, too',
    async (path) => {
      const response = await get(path, { accept: 'text/html' })
      expect(response.status).toBe(404)
      expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    },
  )

  test('browsers can install the console: its manifest names icons that are there', async () => {
    const page = await (await get('/')).text()
    const [, manifest = ''] = /rel="manifest" href="([^"]+)"/.exec(page) ?? []
    const { start_url, display, icons } = await (await get(manifest)).json()
    expect({ start_url, display }).toEqual({ start_url: '/app', display: 'standalone' })
    const [, touch = ''] = /rel="apple-touch-icon" href="([^"]+)"/.exec(page) ?? []
    const sources = icons.map(({ src }: { src: string }) => new URL(src, app.url + manifest))
    for (const { pathname } of [...sources, new URL(touch, app.url)]) {
      const icon = await get(pathname)
      expect(icon.headers.get('content-type')).toBe('image/png')
      expect((await icon.bytes()).length).toBeGreaterThan(1_000)
    }
    expect((await get('/')).headers.get('content-security-policy')).toContain("manifest-src 'self'")
  })

  test('the worker that keeps the console is asked for at every visit', async () => {
    const worker = await get('/sw.js')
    expect(worker.status).toBe(200)
    expect(worker.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect(worker.headers.get('cache-control')).toBe('no-cache')
    expect(worker.headers.get('content-security-policy')).toBe(
      "default-src 'none'; connect-src 'self'",
    )
    const kept = (await worker.text()).match(/\/assets\/[\w-]+\.(js|css)/g) ?? []
    expect(kept).toContain(asset)
    for (const path of kept)
      expect({ path, status: (await get(path)).status }).toEqual({ path, status: 200 })
  })

  test('compressed copies of an asset are not reachable by name', async () => {
    expect((await get(`${asset}.br`)).status).toBe(404)
    expect((await get(`${asset}.gz`)).status).toBe(404)
  })

  test('the content security policy allows no foreign and no inline code', async () => {
    const policy = (await get('/')).headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toMatch(/unsafe|http|\*/)
    const page = await (await get('/')).text()
    expect(page).not.toMatch(/https?:\/\/|style=|<style|onload|<script>/)
  })

  test.each(['/', '/status'])(
    'the page %p cannot be framed or opened by other pages',
    async (path) => {
      const { headers } = await get(path)
      expect(headers.get('x-frame-options')).toBe('DENY')
      expect(headers.get('cross-origin-opener-policy')).toBe('same-origin')
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
      expect(headers.get('permissions-policy')).toContain('camera=(), geolocation=()')
    },
  )

  test('a page is revalidated on every visit, with 304 while it is unchanged', async () => {
    const first = await get('/')
    expect(first.headers.get('cache-control')).toBe('no-cache')
    const again = await get('/', { 'if-none-match': first.headers.get('etag') ?? '' })
    expect(again.status).toBe(304)
    expect(await again.text()).toBe('')
  })

  test('HEAD of a page has the headers of GET and no body', async () => {
    const response = await fetch(`${app.url}/login`, { method: 'HEAD' })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toContain('text/html')
    expect(await response.text()).toBe('')
  })

  test('a page refuses other methods with 405', async () => {
    expect((await fetch(`${app.url}/app/kb`, { method: 'POST' })).status).toBe(405)
  })
})

describe('assets of the console', () => {
  test.each(['br', 'gzip', ''])(
    'assets of the console are sent with the encoding %p',
    async (encoding) => {
      const response = await get(asset, { 'accept-encoding': encoding || 'identity' })
      expect(response.status).toBe(200)
      expect(response.headers.get('content-encoding') ?? '').toBe(encoding)
      expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
      expect(response.headers.get('vary')).toBe('accept-encoding')
      expect(response.headers.get('content-type')).toContain('text/javascript')
    },
  )

  test('every encoding of an asset holds the same bytes', async () => {
    const plain = await (await get(asset, { 'accept-encoding': 'identity' })).text()
    for (const encoding of ['br', 'gzip']) {
      const unpacked = await fetch(app.url + asset, { headers: { 'accept-encoding': encoding } })
      expect(await unpacked.text()).toBe(plain)
    }
  })

  test('an asset that is stored compressed alone is unpacked while it is sent', async () => {
    const folder = join(import.meta.dir, '../../dist/web/assets')
    const packed = readdirSync(folder).find((name) => /^mermaid-.*\.gz$/.test(name)) ?? ''
    const headers = { 'accept-encoding': 'identity' }
    const response = await get(`/assets/${packed.slice(0, -3)}`, headers)
    expect(response.headers.get('content-encoding')).toBeNull()
    // A length would mean that all of it was in memory before the first byte left.
    expect(response.headers.get('content-length')).toBeNull()
    const plain = Bun.gunzipSync(await Bun.file(join(folder, packed)).bytes())
    expect(Buffer.compare(await response.bytes(), plain)).toBe(0)
  })

  test('an asset is answered with 304 for its entity tag', async () => {
    const headers = { 'accept-encoding': 'gzip' }
    const mark = (await get(asset, headers)).headers.get('etag') ?? ''
    expect((await get(asset, { ...headers, 'if-none-match': mark })).status).toBe(304)
    expect((await get(asset, { ...headers, 'if-none-match': '"other"' })).status).toBe(200)
    const list = `"a${' '.repeat(15_000)}b" , ${mark}`
    expect((await get(asset, { ...headers, 'if-none-match': list })).status).toBe(304)
  })
})
