import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { startApp, type TestApp } from '../support/app.ts'
import { refusedUrl, startUpstream, type Upstream } from '../support/upstream.ts'

interface Report {
  status: string
  checks: { name: string; state: string; class: string; latency_ms: number }[]
}

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app[Symbol.asyncDispose]())

const PAGES = [
  ['/healthz', 'text/plain; charset=utf-8'],
  ['/status', 'text/html; charset=utf-8'],
  ['/status?format=json', 'application/json'],
  ['/robots.txt', 'text/plain; charset=utf-8'],
  ['/sitemap.xml', 'application/xml; charset=utf-8'],
  ['/favicon.svg', 'image/svg+xml; charset=utf-8'],
] as const

describe('public pages', () => {
  for (const [path, type] of PAGES) {
    test(`${path} answers GET and HEAD without a credential`, async () => {
      const got = await fetch(app.url + path)
      expect(got.status).toBe(200)
      expect(got.headers.get('content-type')?.toLowerCase()).toStartWith(type)
      expect(got.headers.get('x-content-type-options')).toBe('nosniff')
      expect(got.headers.get('referrer-policy')).toBe('no-referrer')
      expect(got.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
      expect((await got.text()).length).toBeGreaterThan(1)
      const head = await fetch(app.url + path, { method: 'HEAD' })
      expect(head.status).toBe(200)
      expect(head.headers.get('content-type')).toBe(got.headers.get('content-type'))
      expect(await head.text()).toBe('')
    })

    test(`${path} refuses other methods`, async () => {
      const answer = await fetch(app.url + path, { method: 'DELETE' })
      expect(answer.status).toBe(405)
      expect(answer.headers.get('allow')).toBe('GET, HEAD')
    })
  }

  test('public pages name the requested host and no other', async () => {
    const headers = { host: 'moon.example:8443' }
    const robots = await (await fetch(`${app.url}/robots.txt`, { headers })).text()
    expect(robots).toContain('Sitemap: http://moon.example:8443/sitemap.xml')
    expect(robots).toContain('Disallow: /v1/')
    const sitemap = await (await fetch(`${app.url}/sitemap.xml`, { headers })).text()
    expect(sitemap).toContain('<loc>http://moon.example:8443/</loc>')
  })

  test('public pages refuse a host that could become markup or a header', async () => {
    for (const host of ['a"><script>', "x'onload=1", 'a<b', 'a&b', 'a/b']) {
      const answer = await fetch(`${app.url}/sitemap.xml`, { headers: { host } })
      expect(answer.status).toBe(400)
      expect(await answer.text()).not.toContain(host)
    }
  })

  test('public pages name the requested host with the scheme of MB_PUBLIC_URL', async () => {
    await using own = await startApp({ env: { MB_PUBLIC_URL: 'https://moon.example/base' } })
    for (const path of ['/robots.txt', '/sitemap.xml']) {
      const of = async (host: string) => {
        const headers = { host, 'x-forwarded-host': 'evil.example' }
        return (await fetch(own.url + path, { headers })).text()
      }
      expect(await of('moon.example')).toContain('https://moon.example/')
      expect(await of('box.lan:3900')).toContain('http://box.lan:3900/')
      expect(await of('box.lan:3900')).not.toContain('example')
    }
  })
})

describe('the status page', () => {
  test('the status page uses the language of the browser', async () => {
    const page = async (language: string) =>
      (await fetch(`${app.url}/status`, { headers: { 'accept-language': language } })).text()
    expect(await page('en-US,en;q=0.9,zh;q=0.2')).toContain('<html lang="en">')
    expect(await page('zh-CN,zh;q=0.9,en;q=0.8')).toContain('<html lang="zh-CN">')
    expect(await page('fr')).toContain('<html lang="zh-CN">')
    expect(await page('en;q=0, zh;q=0.1')).toContain('<html lang="zh-CN">')
  })

  test('the status page loads and runs nothing', async () => {
    const answer = await fetch(`${app.url}/status`, { headers: { accept: 'text/html' } })
    const policy = answer.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toContain('unsafe')
    const html = await answer.text()
    expect(html).not.toContain('<script')
    const style = /<style>([\s\S]*?)<\/style>/.exec(html)?.[1] ?? ''
    const hash = new Bun.CryptoHasher('sha256').update(style).digest('base64')
    expect(policy).toContain(`'sha256-${hash}'`)
    expect(html).toContain('prefers-color-scheme:dark')
  })

  test('the status page is JSON for a program', async () => {
    const answer = await fetch(`${app.url}/status`, { headers: { accept: 'application/json' } })
    const report = (await answer.json()) as Report
    expect(report.status).toBe('ok')
    for (const check of report.checks) {
      expect(Object.keys(check)).toEqual(['name', 'state', 'class', 'latency_ms'])
      expect(Number.isInteger(check.latency_ms)).toBe(true)
    }
    expect(report.checks).toContainEqual(
      expect.objectContaining({ name: 'database', state: 'ok', class: 'ok' }),
    )
    expect(report.checks).toContainEqual(
      expect.objectContaining({ name: 'llm', state: 'off', class: 'offline_responder' }),
    )
  })
})

describe('the probe of the model channel', () => {
  let upstream: Upstream
  beforeAll(async () => {
    upstream = await startUpstream()
  })
  afterEach(() => upstream.reset())
  afterAll(() => upstream.stop())

  const secret = 'sk-very-secret-key'
  const llm = async (server: TestApp) => {
    const text = await (await fetch(`${server.url}/status?format=json`)).text()
    expect(text).not.toContain(secret)
    expect(text).not.toContain('SECRET')
    expect(text).not.toContain('127.0.0.1')
    const report = JSON.parse(text) as Report
    return { ...report.checks.find(({ name }) => name === 'llm'), status: report.status }
  }
  const open = () => startApp({ upstream: upstream.baseUrl, env: { MB_LLM_API_KEY: secret } })

  test('the model probe lists models once for many viewers, without a completion', async () => {
    await using server = await open()
    const reports = await Promise.all(Array.from({ length: 20 }, () => llm(server)))
    for (const report of reports) expect(report).toMatchObject({ state: 'ok', status: 'ok' })
    expect(upstream.requests.map(({ path }) => path)).toEqual(['/models'])
  })

  const faults = [
    [401, 'unauthorized'],
    [429, 'http_4xx'],
    [500, 'http_5xx'],
  ] as const
  for (const [fault, word] of faults) {
    test(`the model probe reports ${fault} as ${word} and nothing more`, async () => {
      await using server = await open()
      upstream.models.fault(fault)
      expect(await llm(server)).toMatchObject({ state: 'down', class: word, status: 'degraded' })
    })
  }

  test('the model probe tells an unreachable endpoint from one that refuses', async () => {
    await using server = await startApp({ upstream: await refusedUrl() })
    expect(await llm(server)).toMatchObject({ state: 'down', class: 'connection_failed' })
  })
})
