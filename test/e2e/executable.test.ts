import { afterAll, beforeAll, expect, test } from 'bun:test'
import { copyFileSync, mkdirSync, readdirSync } from 'node:fs'
import { version } from '../../package.json'
import { executable } from '../support/executable.ts'
import { signIn } from '../support/login.ts'
import {
  docxFile,
  epubFile,
  paragraph,
  pptxFile,
  shape,
  sheet,
  xlsxFile,
} from '../support/office-files.ts'
import { pdfFile } from '../support/pdf-file.ts'
import { tone, wav } from '../support/recordings.ts'
import { runProgram } from '../support/run.ts'
import { type Server, startServer } from '../support/server.ts'
import { postSse } from '../support/sse.ts'
import { type TempFolder, tempFolder } from '../support/temp.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { hasSherpa, makeVoicePack, sayWhenNoSherpa } from '../support/voice-pack.ts'

sayWhenNoSherpa()

// The executable as people get it: alone in an empty folder, with an empty environment but for the
// port, which another program might have. The tests build on each other, in order.
const ENV = { MB_PORT: '0' }
let folder: TempFolder
let program: string
let server: Server
let upstream: Upstream
let headers: { authorization: string }

const run = (args: readonly string[], env: Record<string, string> = ENV) =>
  runProgram([program, ...args], { cwd: folder.path, env })

const start = (env: Record<string, string> = {}) =>
  startServer({
    dataDir: folder.file('data'),
    command: [program],
    cwd: folder.path,
    onlyEnv: { ...ENV, ...env },
  })

const post = (path: string, body: BodyInit, type = 'application/json') =>
  fetch(server.url + path, { method: 'POST', headers: { ...headers, 'content-type': type }, body })

async function say(text: string) {
  const body = { text, session_id: 's' }
  const events = await (await postSse(`${server.url}/v1/agent`, { headers, body })).all()
  return events.map(({ data }) => data)
}

beforeAll(async () => {
  const built = await executable()
  upstream = await startUpstream()
  folder = tempFolder()
  program = folder.file('moonbase')
  copyFileSync(built, program)
  if (hasSherpa) makeVoicePack(folder.file('data'))
}, 120_000)
afterAll(async () => {
  await server?.kill()
  await upstream?.stop()
  folder?.[Symbol.dispose]()
})

test('the executable knows its version, and its doctor finds nothing wrong', async () => {
  expect(await run(['version'], {})).toMatchObject({ out: `moonbase ${version}\n`, code: 0 })
  const { out, err, code } = await run(['doctor'])
  expect({ out, err, code }).toMatchObject({ err: '', code: 0 })
  expect(out).toMatch(/ok +Embedding/)
  expect(out).toMatch(/ok +Native parts/)
}, 60_000)

test('the executable refuses a data folder that is not a folder in one sentence', async () => {
  for (const command of ['serve', 'doctor', 'backup x.db', 'key create']) {
    const { out, err, code } = await run(command.split(' '), { MB_DATA_DIR: program })
    expect(code).toBe(1)
    expect(out + err).toContain('MB_DATA_DIR')
    expect(err.trim().split('\n')).toHaveLength(1)
  }
}, 60_000)

test('the executable starts, makes a key, and answers with a tool', async () => {
  server = await start()
  const { out, code } = await run(['key', 'create', '--json', '--rate-limit', '0'])
  expect(code).toBe(0)
  headers = { authorization: `Bearer ${(JSON.parse(out) as { key: string }).key}` }
  const events = await say('12*34 等于多少？')
  expect(events).toContainEqual({ type: 'tool_result', name: 'calculator', ok: true })
  expect(events.at(-1)?.type).toBe('llm_end')
  expect(String(events.at(-1)?.reply)).toContain('408')
  expect(readdirSync(folder.path).sort()).toEqual(['data', 'moonbase'])
}, 60_000)

test('the executable parses a large body in its JSON thread', async () => {
  const image = `data:image/png;base64,${'A'.repeat(400_000)}`
  const answer = await post('/v1/agent', JSON.stringify({ text: 'hi', images: [image] }))
  expect(answer.status).toBe(200)
  expect(await answer.text()).toContain('llm_end')
  expect((await post('/v1/agent', `{"text":"${image}`)).status).toBe(400)
})

test('the executable serves its pages', async () => {
  const site = ['/healthz', '/status', '/robots.txt', '/sitemap.xml', '/favicon.svg']
  for (const path of [...site, '/openapi.json', '/docs', '/login', '/app/keys']) {
    expect((await fetch(server.url + path)).status).toBe(200)
  }
  const home = await (await fetch(server.url)).text()
  const assets = [...home.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path)
  expect(assets.length).toBeGreaterThan(0)
  for (const path of assets) expect((await fetch(server.url + path)).status).toBe(200)
  const answer = await fetch(`${server.url}/status?format=json`)
  expect(await answer.json()).toMatchObject({ status: 'ok' })
})

test.skipIf(!hasSherpa)(
  'the executable recognises speech with a voice pack, without a setting',
  async () => {
    const sound = wav(16_000, tone(16_000, 1, 400))
    const heard = await post('/v1/asr', sound.slice().buffer, 'application/octet-stream')
    expect(await heard.json()).toEqual({ text: '低' })
  },
  30_000,
)

test.skipIf(!Bun.which('espeak-ng'))(
  'the executable speaks with an installed eSpeak',
  async () => {
    const spoken = await post('/v1/tts', JSON.stringify({ text: '你好' }))
    expect(spoken.status).toBe(200)
    expect(spoken.headers.get('content-type')).toBe('audio/mpeg')
  },
  30_000,
)

test('the executable signs a person in by the code it prints', async () => {
  const { me, headers: session } = await signIn(server, 'a@example.com')
  const answer = await fetch(`${server.url}/auth/me`, { headers: session })
  expect(await answer.json()).toEqual(me)
})

test('the executable stores a document and finds it again', async () => {
  const text = '月球车的充电站在沙克尔顿环形山的边缘，每天由两名工程师检查。'
  const stored = await post('/v1/kb/docs', JSON.stringify({ title: '充电站', text }))
  expect(stored.status).toBe(201)
  const found = await post('/v1/kb/search', JSON.stringify({ q: '充电站在哪里？' }))
  const { results } = (await found.json()) as { results: { title: string; score: number }[] }
  expect(results[0]).toMatchObject({ title: '充电站' })
  expect(results[0]?.score).toBeGreaterThan(0.45)
  const events = await say('月球车的充电站在哪里？')
  expect(events[0]).toMatchObject({ type: 'kb_refs' })
})

test('the executable reads files of every kind', async () => {
  const files = {
    'a.txt': 'Plain text.',
    'a.md': '# Heading\n\nText below.',
    'a.csv': 'name,price\nlamp,5\n',
    'a.html': '<!doctype html><title>T</title><p>A page.</p>',
    'a.pdf': pdfFile([{ lines: ['A line'] }]),
    'a.docx': docxFile(paragraph('A paragraph')),
    'a.pptx': pptxFile([{ body: shape('A slide') }]),
    'a.xlsx': xlsxFile({ S: sheet([['A cell']]) }),
    'a.epub': epubFile({ 'a.xhtml': '<p>A chapter</p>' }),
  }
  for (const [name, content] of Object.entries(files)) {
    const body = new FormData()
    body.set('file', new File([content as BlobPart], name))
    const sent = await fetch(`${server.url}/v1/kb/files`, { method: 'POST', headers, body })
    expect(sent.status).toBe(202)
  }
  for (;;) {
    const answer = await fetch(`${server.url}/v1/kb/sources`, { headers })
    const { sources } = (await answer.json()) as { sources: { state: string; title: string }[] }
    if (sources.some(({ state }) => /queued|reading|embedding/.test(state))) continue
    expect(sources.map(({ state }) => state)).toEqual(Object.keys(files).map(() => 'ready'))
    break
  }
})

test('the executable is backed up while it runs, and restored elsewhere', async () => {
  expect(await run(['backup', folder.file('b.db')])).toMatchObject({ code: 0, err: '' })
  expect((await run(['restore', folder.file('b.db'), '--force'])).code).toBe(1)
  await server.stop()
  mkdirSync(folder.file('other'))
  const elsewhere = { ...ENV, MB_DATA_DIR: folder.file('other') }
  expect(await run(['restore', folder.file('b.db')], elsewhere)).toMatchObject({ code: 0, err: '' })
  const voice = {
    MB_LLM_BASE_URL: upstream.baseUrl,
    MB_LLM_MODEL: 'fake',
    MB_TTS_BASE_URL: upstream.baseUrl,
    MB_ASR_BASE_URL: upstream.baseUrl,
  }
  server = await start({ MB_DATA_DIR: elsewhere.MB_DATA_DIR, ...voice })
  const answer = await fetch(`${server.url}/v1/sessions/s/history`, { headers })
  expect(((await answer.json()) as { count: number }).count).toBe(4)
}, 60_000)

test('the executable speaks and recognises speech', async () => {
  upstream.speech.always({ ms: 500 })
  const spoken = await post('/v1/tts', JSON.stringify({ text: '你好' }))
  expect(spoken.status).toBe(200)
  expect(spoken.headers.get('content-type')).toBe('audio/mpeg')
  expect((await spoken.bytes()).length).toBeGreaterThan(1_000)
  const clip = wav(16_000, tone(16_000, 1))
  const heard = await post('/v1/asr', clip.slice().buffer, 'application/octet-stream')
  expect(await heard.json()).toMatchObject({ text: '你好，今天天气怎么样？' })
  const body = JSON.stringify({ audio_b64: Buffer.from(clip).toString('base64'), kb: false })
  const loop = await post('/v1/voice', body)
  expect(await loop.json()).toMatchObject({ reply_text: '好的', audio_format: 'mp3' })
}, 60_000)

test('the executable stops with exit code 0 on a signal', async () => {
  expect(await server.stop()).toBe(0)
})
