import { describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { startApp, type TestApp } from '../support/app.ts'
import { mp3, pcm16, tone, wav } from '../support/recordings.ts'
import { run } from '../support/run.ts'
import { startServer } from '../support/server.ts'
import { tempFolder } from '../support/temp.ts'
import { hasSherpa, makeVoicePack, sayWhenNoSherpa } from '../support/voice-pack.ts'

sayWhenNoSherpa()

const RATE = 16_000
const [LOW, MIDDLE, HIGH] = [400, 1_000, 3_000]

/** Tones of half a second and pauses, one after the other. */
function melody(...hertz: readonly number[]): Float32Array {
  const parts = hertz.map((one) =>
    one === 0 ? new Float32Array(RATE / 2) : tone(RATE, 0.5, one, 0.3),
  )
  const whole = new Float32Array((parts.length * RATE) / 2)
  for (const [index, part] of parts.entries()) whole.set(part, (index * RATE) / 2)
  return whole
}

const recording = (...hertz: readonly number[]) => wav(RATE, melody(...hertz))

async function hear(url: string, headers: HeadersInit, sound: Uint8Array) {
  const body = new Uint8Array(sound)
  const answer = await fetch(`${url}/v1/asr`, { method: 'POST', headers, body })
  return { status: answer.status, body: await answer.text() }
}

const heard = (text: string) => ({ status: 200, body: JSON.stringify({ text }) })
const UNAVAILABLE = { status: 502, body: '语音识别暂不可用，请稍后重试' }
const NOT_SET_UP = { status: 502, body: '语音识别未配置，暂不可用' }

async function asrCheck(app: TestApp) {
  const answer = await fetch(`${app.url}/status?format=json`)
  const { checks } = (await answer.json()) as { checks: { name: string }[] }
  return checks.find(({ name }) => name === 'asr')
}

/** What the doctor says of recognition. */
async function diagnosis(dataDir: string, env: Record<string, string> = {}) {
  const { out } = await run(['doctor', '--json'], dataDir, env)
  const { checks } = JSON.parse(out) as { checks: { name: string; level: string; text: string }[] }
  return checks.find(({ name }) => name === 'Speech recognition')
}

/** Recognising processes that `pid` has started (proc(5)). */
function recognisers(pid: number): number[] {
  const read = (path: string) => {
    try {
      return readFileSync(path, 'utf8')
    } catch {
      return '' // It has just ended.
    }
  }
  const children = read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean)
  return children
    .filter((child) => read(`/proc/${child}/cmdline`).includes('asr-worker'))
    .map(Number)
}

describe('without a whole pack', () => {
  test('a server without a voice pack recognises nothing and reports no fault', async () => {
    await using app = await startApp()
    const { headers } = await app.key()
    expect(await hear(app.url, headers, recording(LOW))).toEqual(NOT_SET_UP)
    expect(await asrCheck(app)).toMatchObject({ state: 'off', class: 'not_configured' })
    expect(await diagnosis(app.dataDir)).toMatchObject({ level: 'ok' })
  })

  test('a voice pack that is configured but missing is reported', async () => {
    await using app = await startApp({ env: { MB_ASR_KIND: 'local' } })
    const { headers } = await app.key()
    expect(await hear(app.url, headers, recording(LOW))).toEqual(NOT_SET_UP)
    expect(await asrCheck(app)).toMatchObject({ state: 'down', class: 'files_missing' })
    const found = await diagnosis(app.dataDir, { MB_ASR_KIND: 'local' })
    expect(found).toMatchObject({ level: 'fail' })
    expect(found?.text).toContain('packs/voice')
  })

  test('an incomplete voice pack is reported, and not used', async () => {
    using data = tempFolder()
    makeVoicePack(data.path, { library: false })
    await using app = await startApp({ dataDir: data.path })
    const { headers } = await app.key()
    expect(await hear(app.url, headers, recording(LOW))).toEqual(NOT_SET_UP)
    expect(await asrCheck(app)).toMatchObject({ state: 'off', class: 'files_missing' })
    expect(app.log()).toContain('voice pack incomplete')
    const found = await diagnosis(data.path)
    expect(found).toMatchObject({ level: 'warn' })
    expect(found?.text).toContain('sherpa-onnx.node')
  })
})

describe.skipIf(!hasSherpa)('with sherpa-onnx (skipped where it is not installed)', () => {
  test('a voice pack is used without a setting, for recordings of every kind', async () => {
    using data = tempFolder()
    makeVoicePack(data.path)
    await using app = await startApp({ dataDir: data.path })
    const { headers } = await app.key()
    expect(await asrCheck(app)).toMatchObject({ state: 'ok', class: 'standby' })
    const sounds = [
      wav(RATE, melody(LOW, 0, HIGH)),
      wav(48_000, tone(48_000, 1, MIDDLE)),
      await mp3(RATE, melody(HIGH, LOW)),
    ]
    const texts = await Promise.all(sounds.map((sound) => hear(app.url, headers, sound)))
    expect(texts).toEqual(['低高', '中', '高低'].map(heard))
    const body = JSON.stringify({ audio_b64: recording(MIDDLE).toBase64() })
    const loop = await fetch(`${app.url}/v1/voice`, { method: 'POST', headers, body })
    expect(await loop.json()).toMatchObject({ asr_text: '中' })
  }, 60_000)

  test('silence has no text, in compressed recordings too', async () => {
    using data = tempFolder()
    makeVoicePack(data.path)
    await using app = await startApp({ dataDir: data.path })
    const { headers } = await app.key()
    const nothing = new Float32Array(2 * RATE)
    for (const sound of [wav(RATE, nothing), await mp3(RATE, nothing)]) {
      expect(await hear(app.url, headers, sound)).toEqual(heard(''))
    }
  }, 60_000)

  test('a recording of minutes is recognised in segments to its end', async () => {
    using data = tempFolder()
    makeVoicePack(data.path)
    await using app = await startApp({ dataDir: data.path })
    const { headers } = await app.key()
    const long = [...new Array(150).fill(LOW), 0, ...new Array(30).fill(MIDDLE), 0, 0, 0, 0, HIGH]
    const { body } = await hear(app.url, headers, recording(...long))
    expect((JSON.parse(body) as { text: string }).text).toMatch(/^低+中+高$/)
  }, 60_000)

  test('a voice activity detector decides which parts are recognised', async () => {
    using data = tempFolder()
    makeVoicePack(data.path, { vad: true })
    await using app = await startApp({ dataDir: data.path })
    const { headers } = await app.key()
    const faint = tone(RATE, 2, HIGH, 0.02)
    const clear = melody(LOW, LOW, LOW, LOW)
    const pause = melody(0, 0)
    const both = Float32Array.from([faint, pause, clear, pause, faint].flatMap((part) => [...part]))
    expect(await hear(app.url, headers, wav(RATE, both))).toEqual(heard('低'))
    expect(await hear(app.url, headers, wav(RATE, faint))).toEqual(heard(''))
    expect((await diagnosis(data.path))?.text).toContain('silero_vad')
  }, 60_000)

  test('a damaged model is a 502 that the doctor explains, and works once mended', async () => {
    using data = tempFolder()
    const path = makeVoicePack(data.path)
    const whole = readFileSync(path)
    writeFileSync(path, whole.subarray(0, 5_000))
    await using app = await startApp({ dataDir: data.path })
    const { headers } = await app.key()
    expect(await hear(app.url, headers, recording(LOW))).toEqual(UNAVAILABLE)
    expect(await asrCheck(app)).toMatchObject({ state: 'down', class: 'error' })
    const found = await diagnosis(data.path)
    expect(found).toMatchObject({ level: 'fail' })
    expect(found?.text).toContain('cannot be loaded')
    expect(found?.text).toContain('Protobuf parsing failed')
    writeFileSync(path, whole)
    expect(await hear(app.url, headers, recording(LOW))).toEqual(heard('低'))
    expect((await fetch(`${app.url}/healthz`)).status).toBe(200)
  }, 60_000)

  test('the doctor reports a recogniser library that cannot be loaded', async () => {
    using data = tempFolder()
    makeVoicePack(data.path)
    const native = data.file('packs', 'voice', 'native', `${process.platform}-${process.arch}`)
    writeFileSync(`${native}/sherpa-onnx.node`, pcm16(melody(LOW)))
    const found = await diagnosis(data.path)
    expect(found).toMatchObject({ level: 'fail' })
    expect(found?.text).toContain('cannot be loaded')
  }, 60_000)

  test('the server survives a crash of its recogniser, and leaves no process', async () => {
    using data = tempFolder()
    makeVoicePack(data.path)
    const server = await startServer({ dataDir: data.path })
    const { out } = await run(['key', 'create', '--json'], data.path)
    const headers = { authorization: `Bearer ${(JSON.parse(out) as { key: string }).key}` }
    expect(recognisers(server.pid)).toEqual([])
    expect(await hear(server.url, headers, recording(LOW))).toEqual(heard('低'))
    const [first = 0] = recognisers(server.pid)
    process.kill(first, 'SIGKILL')
    while (recognisers(server.pid).length > 0) await Bun.sleep(5)
    expect(await hear(server.url, headers, recording(HIGH))).toEqual(heard('高'))
    const [second = 0] = recognisers(server.pid)
    expect(second).not.toBe(first)
    expect(await server.stop()).toBe(0)
    expect(() => process.kill(second, 0)).toThrow()
  }, 60_000)
})
