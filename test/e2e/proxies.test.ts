import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createServer } from 'node:net'
import { resolve } from 'node:path'
import { startApp, type TestApp } from '../support/app.ts'
import { startingBoard } from '../support/board.ts'
import { selfSigned } from '../support/certificate.ts'
import { deviceClient } from '../support/devices.ts'
import { tone, wav } from '../support/recordings.ts'
import { postSse } from '../support/sse.ts'
import { type TempFolder, tempFolder } from '../support/temp.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

// The proxies of the manual, as it prints them, where the machine has them. Only names and ports
// are replaced.

const PAGES = ['en', 'zh'].map((language) =>
  resolve(import.meta.dir, `../../web/guides/${language}/operate.md`),
)

async function printed(page: string, language: string): Promise<string> {
  const text = await Bun.file(page).text()
  const [, block] = new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(text) ?? []
  if (block === undefined) throw new Error(`${page} prints no ${language}`)
  return block
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as { port: number }
  await new Promise((done) => server.close(done))
  return port
}

interface Started {
  readonly command: readonly string[]
  readonly env: Record<string, string>
}

type Setup = (block: string, port: number, app: URL, folder: TempFolder) => Promise<Started>

/** Workers of another user could not write into the folder of the test. */
const isRoot = process.getuid?.() === 0

const nginx: Setup = async (block, port, app, folder) => {
  const { cert, key } = selfSigned('localhost')
  await Bun.write(folder.file('a.pem'), cert)
  await Bun.write(folder.file('a.key'), key)
  const site = block
    .replace('listen 443 ', `listen 127.0.0.1:${port} `)
    .replace('server_name moonbase.example', 'server_name localhost')
    .replace('/etc/ssl/moonbase.pem', folder.file('a.pem'))
    .replace('/etc/ssl/moonbase.key', folder.file('a.key'))
    .replace('127.0.0.1:3900', app.host)
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder.file(name)};`)
    .join('\n')
  await Bun.write(
    folder.file('nginx.conf'),
    `${isRoot ? 'user root;\n' : ''}pid ${folder.file('pid')};\nerror_log stderr;\n` +
      `worker_processes 1;\nevents {}\n` +
      `http {\naccess_log off;\n${paths}\n${site}\n}\n`,
  )
  const command = ['nginx', '-c', folder.file('nginx.conf'), '-g', 'daemon off;']
  return { command, env: {} }
}

const caddy: Setup = async (block, port, app, folder) => {
  const site = block
    .replace('moonbase.example', `https://localhost:${port}`)
    .replace('127.0.0.1:3900', app.host)
  const own = '{\nadmin off\nlocal_certs\nskip_install_trust\nauto_https disable_redirects\n}\n'
  await Bun.write(folder.file('Caddyfile'), own + site)
  const command = ['caddy', 'run', '--adapter', 'caddyfile', '--config', folder.file('Caddyfile')]
  return { command, env: { HOME: folder.path, XDG_DATA_HOME: folder.path } }
}

const PROXIES = [
  ['nginx', nginx],
  ['caddy', caddy],
] as const

/** The board starts at another address, so that it takes no guess from the test of the limit. */
const OTHER = { 'x-forwarded-for': '198.51.100.9' }

const insecure = { tls: { rejectUnauthorized: false } }
const through = (url: string | Request | URL, init?: RequestInit) =>
  fetch(url, { ...init, ...insecure })

for (const [name, setup] of PROXIES) {
  const there = Bun.which(name, { PATH: `${process.env.PATH}:/usr/sbin` })
  if (!there) process.stderr.write(`no ${name} here: its block of the manual is not tried\n`)
  describe.skipIf(!there)(`${name} as the manual prints it`, () => {
    const folder = tempFolder()
    let app: TestApp
    let upstream: Upstream
    let proxy: Bun.Subprocess
    let url: string

    beforeAll(async () => {
      upstream = await startUpstream()
      const port = await freePort()
      url = `https://localhost:${port}`
      app = await startApp({
        env: {
          ...{ MB_PUBLIC_URL: url, MB_TRUST_PROXY: '1', MB_TTS_KIND: 'none' },
          ...{ MB_LLM_BASE_URL: upstream.baseUrl, MB_LLM_MODEL: 'fake' },
          ...{ MB_ASR_BASE_URL: upstream.baseUrl, MB_ASR_MODEL: 'fake' },
        },
      })
      const block = await printed(PAGES[0] ?? '', name)
      const { command, env } = await setup(block, port, new URL(app.url), folder)
      proxy = Bun.spawn([there ?? '', ...command.slice(1)], {
        env: { ...process.env, ...env },
        stdout: 'ignore',
        stderr: Bun.file(folder.file('log')),
      })
      for (;;) {
        const answer = await through(`${url}/healthz`).catch(() => null)
        if (answer?.ok) break
        if (proxy.exitCode !== null) throw new Error(await Bun.file(folder.file('log')).text())
        await Bun.sleep(50)
      }
    }, 30_000)
    afterAll(async () => {
      proxy?.kill()
      await proxy?.exited
      await app?.[Symbol.asyncDispose]()
      await upstream?.stop()
      folder[Symbol.dispose]()
    })

    test('the block is the same in both languages', async () => {
      const [en, zh] = await Promise.all(PAGES.map((page) => printed(page, name)))
      expect(zh).toBe(en ?? '')
    })

    test('events come while the model still writes', async () => {
      const gate = Promise.withResolvers<void>()
      upstream.reply({ pieces: ['a', 'b'], hold: { after: 1, until: gate.promise } })
      const { headers } = await app.key()
      const options = { headers, body: { text: 'hi' }, fetch: through as typeof fetch }
      const types: unknown[] = []
      for await (const { data } of await postSse(`${url}/v1/agent`, options)) {
        types.push(data.type)
        // The model writes on only after its first word has come through.
        if (data.type === 'llm_delta') gate.resolve()
      }
      expect(types).toContain('llm_delta')
      expect(types.at(-1)).toBe('llm_end')
    })

    test('an upload of 20 MB comes through', async () => {
      const { headers } = await app.key()
      upstream.transcriptions.reply({ text: '你好' })
      const sound = wav(48_000, tone(48_000, 210))
      expect(sound.length).toBeGreaterThan(20_000_000)
      const init = { method: 'POST', headers, body: new Uint8Array(sound) }
      const answer = await through(`${url}/v1/asr`, init)
      expect([answer.status, await answer.json()]).toEqual([200, { text: '你好' }])
    }, 60_000)

    test('a web socket opens', async () => {
      const devices = deviceClient(app, await app.key())
      const { code } = await devices.register()
      const { websocket } = await startingBoard(app, { headers: OTHER }).start(code)
      expect(websocket.url).toStartWith(url.replace('https', 'wss'))
      const headers = { authorization: `Bearer ${websocket.token}`, 'protocol-version': '1' }
      // Bun's own second argument, which the types of browsers do not know.
      const options = { headers, ...insecure } as unknown as string[]
      const socket = new WebSocket(websocket.url, options)
      const answer = Promise.withResolvers<string>()
      socket.onerror = () => answer.reject(new Error('the socket was refused'))
      socket.onmessage = ({ data }) => answer.resolve(String(data))
      const audio = { format: 'opus', sample_rate: 16_000, channels: 1, frame_duration: 60 }
      const hello = { type: 'hello', version: 1, transport: 'websocket', audio_params: audio }
      socket.onopen = () => socket.send(JSON.stringify(hello))
      expect(JSON.parse(await answer.promise)).toMatchObject({ type: 'hello' })
      socket.close()
    })

    test('a forged X-Forwarded-For does not widen a limit', async () => {
      const statuses: number[] = []
      for (let n = 0; n < 12; n += 1) {
        const answer = await through(`${url}/v1/devices/activate`, {
          method: 'POST',
          headers: { 'x-forwarded-for': `203.0.113.${n}` },
          body: JSON.stringify({ code: 'ABCDEFGHIJKMNOPQ' }),
        })
        statuses.push(answer.status)
      }
      expect(statuses.slice(0, 10)).toEqual(Array(10).fill(401))
      expect(statuses.slice(10)).toEqual([429, 429])
    })
  })
}
