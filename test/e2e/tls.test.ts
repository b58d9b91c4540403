import { expect, test } from 'bun:test'
import { selfSigned } from '../support/certificate.ts'
import { createKey } from '../support/key.ts'
import { run, sentence } from '../support/run.ts'
import { startServer } from '../support/server.ts'
import { postSse } from '../support/sse.ts'
import { type TempFolder, tempFolder } from '../support/temp.ts'
import { startUpstream } from '../support/upstream.ts'

async function pemFiles(folder: TempFolder, name: string) {
  const { cert, key } = selfSigned('localhost')
  const files = { MB_TLS_CERT: folder.file(`${name}.pem`), MB_TLS_KEY: folder.file(`${name}.key`) }
  await Bun.write(files.MB_TLS_CERT, cert)
  await Bun.write(files.MB_TLS_KEY, key)
  return { files, cert }
}

test('a TLS server serves https, and finishes open streams on a stop', async () => {
  using folder = tempFolder()
  const { files, cert } = await pemFiles(folder, 'a')
  const upstream = await startUpstream()
  const dataDir = folder.file('data')
  const { headers } = await createKey(dataDir)
  const env = { ...files, MB_LLM_BASE_URL: upstream.baseUrl, MB_LLM_MODEL: 'fake' }
  const server = await startServer({ dataDir, env })
  expect(server.url).toStartWith('https://')
  const { port } = new URL(server.url)
  const secured = (url: string | Request, init?: RequestInit) =>
    fetch(url, { ...init, tls: { ca: cert } })
  const origin = `https://localhost:${port}`
  expect(await (await secured(`${origin}/healthz`)).text()).toBe('ok')
  await expect(fetch(`${origin}/healthz`)).rejects.toThrow()
  expect(await (await secured(`${origin}/robots.txt`)).text()).toContain(`${origin}/sitemap.xml`)

  for (const host of ['a', 'pi', 'box']) {
    const at = (path: string) => secured(origin + path, { headers: { host } })
    expect(await (await at('/healthz')).text()).toBe('ok')
    expect((await at('/xx/v1/apps')).status).toBe(404)
    const machine = await at('/v1/apps?x=1')
    expect([machine.status, machine.headers.get('access-control-allow-origin')]).toEqual([401, '*'])
    expect(await (await at('/robots.txt')).text()).toContain(`https://${host}/sitemap.xml`)
  }

  const gate = Promise.withResolvers<void>()
  upstream.reply({ pieces: ['a', 'b'], hold: { after: 1, until: gate.promise } })
  const options = { headers, body: { text: 'hi' }, fetch: secured as typeof fetch }
  const stream = await postSse(`${origin}/v1/agent`, options)
  let stopped: Promise<number> | null = null
  let last: unknown
  for await (const { data } of stream) {
    last = data.type
    if (data.type === 'llm_delta' && !stopped) {
      stopped = server.stop()
      await server.printed.until((text) => (text.includes('stopping') ? text : null))
      gate.resolve()
    }
  }
  expect(last).toBe('llm_end')
  expect(await stopped).toBe(0)
  await upstream.stop()
}, 60_000)

test('a TLS server reports wrong certificate files in one sentence', async () => {
  using folder = tempFolder()
  const [{ files: a }, { files: b }] = await Promise.all([
    pemFiles(folder, 'a'),
    pemFiles(folder, 'b'),
  ])
  await Bun.write(folder.file('text'), 'no pem')
  const wrong: [string, Record<string, string>][] = [
    ['MB_TLS_CERT', { ...a, MB_TLS_CERT: folder.file('none') }],
    ['MB_TLS_KEY', { ...a, MB_TLS_KEY: folder.file('none') }],
    ['MB_TLS_CERT', { ...a, MB_TLS_CERT: folder.file('text') }],
    ['MB_TLS_KEY', { ...a, MB_TLS_KEY: folder.file('text') }],
    ['MB_TLS_KEY', { ...a, MB_TLS_KEY: a.MB_TLS_CERT }],
    ['MB_TLS_KEY', { ...a, MB_TLS_KEY: b.MB_TLS_KEY }],
    ['MB_TLS_CERT', { MB_TLS_CERT: a.MB_TLS_CERT }],
  ]
  for (const [name, env] of wrong) {
    const told = sentence(await run(['serve'], folder.file('data'), env))
    expect(told).toStartWith(name)
    expect(told).not.toContain('PRIVATE')
  }
}, 60_000)

test.each([
  [{}, 'http://127.0.0.1:0/v1/agent'],
  [{ MB_HOST: '::1', MB_PORT: '3900' }, 'http://[::1]:3900/v1/agent'],
  [{ MB_TLS_CERT: 'a.pem', MB_TLS_KEY: 'a.key' }, 'https://127.0.0.1:0/v1/agent'],
  [{ MB_PUBLIC_URL: 'https://moon.example/' }, 'https://moon.example/v1/agent'],
])('with %j the first call printed for a new key goes to %s', async (env, url) => {
  using folder = tempFolder()
  const { out } = await run(['key', 'create'], folder.file('data'), { ...env })
  expect(out).toContain(`curl -N ${url} `)
})

for (const host of ['203.0.113.7', '300.1.1.1', 'no host']) {
  test(`MB_HOST=${host} is reported in one sentence`, async () => {
    using folder = tempFolder()
    const told = sentence(await run(['serve'], folder.path, { MB_HOST: host }))
    expect(told).toContain('MB_HOST')
  })
}
