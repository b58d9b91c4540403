import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../support/command.ts'
import { fakePrograms, heardBy, startVoiceApp, typeInto } from '../support/manual-programs.ts'
import { RECOGNISER, recognise, startRecogniser } from '../support/pocketsphinx.ts'
import { tone, wav } from '../support/recordings.ts'
import { tempFolder } from '../support/temp.ts'

const SCRIPT = join(ROOT, 'scripts/device.ts')
const PHRASES = [
  'turn on the kitchen light',
  'where is the railway station',
  'good morning my friend',
]
const missing = [
  ...(RECOGNISER ? [] : ['pocketsphinx']),
  ...(Bun.which('espeak-ng') ? [] : ['espeak-ng']),
]
if (missing.length > 0) process.stderr.write(`skipped: ${missing.join(', ')} not installed\n`)

/** A device of its own folder; `path` is where its programs are. */
function makeDevice(url: string, path: (folder: string) => string = (folder) => folder) {
  const folder = tempFolder()
  const key = folder.file('key.json')
  const question = folder.file('question.wav')
  return {
    folder,
    key,
    question,
    async start(args: readonly string[], lines: readonly string[] = []) {
      await Bun.write(question, wav(16_000, tone(16_000, 0.4)))
      const command = [process.execPath, SCRIPT, '--server', url, '--key-file', key, ...args]
      return typeInto(command, lines, { PATH: path(folder.path), HOME: folder.path })
    },
    [Symbol.dispose]: folder[Symbol.dispose],
  }
}

describe('the simulated device', () => {
  let world: Awaited<ReturnType<typeof startVoiceApp>>
  beforeAll(async () => {
    world = await startVoiceApp()
  })
  afterEach(() => world.upstream.reset())
  afterAll(() => world[Symbol.asyncDispose]())

  test('the simulated device pairs, keeps its key private, talks, and starts again', async () => {
    const { upstream, devices, app } = world
    using device = makeDevice(app.url)
    const out = device.folder.file('answer.mp3')
    const { id, code } = await devices.register()
    upstream.transcriptions.reply({ text: '几点了？' })
    upstream.reply({ text: '三点。' })
    const args = ['--code', code, '--audio', device.question, '--out', out]
    const first = await device.start(args)
    expect(first.out).toContain(`Paired as device ${id}`)
    expect(first.out).toContain('You:    几点了？\nAnswer: 三点。')
    expect(first.code).toBe(0)
    expect(statSync(device.key).mode & 0o777).toBe(0o600)
    expect(first.out).not.toContain('sk-mb-')
    expect((await Bun.file(out).bytes())[0]).toBe(0xff)
    expect(await heardBy(upstream)).toEqual(Buffer.from(await Bun.file(device.question).bytes()))
    const again = await device.start(args)
    expect(again.out).toContain(`Going on as device ${id}`)
    expect(again.code).toBe(0)
    const { body } = await devices.call('GET', `/${id}`)
    expect(body.hw_model).toBe('Moonbase device script')
  }, 60_000)

  test('the simulated device streams speech and reports when it began', async () => {
    const { upstream, devices, app } = world
    using device = makeDevice(app.url)
    const out = device.folder.file('speech.wav')
    upstream.speech.reply({ ms: 500 })
    const { code } = await devices.register()
    const { out: told } = await device.start(['--code', code, '--speak', '你好', '--out', out])
    expect(told).toMatch(/First sound after \d+ ms, 0\.50 s of speech/)
    expect(Bun.file(out).size).toBe(44 + 32_000)
  }, 60_000)

  test('the simulated device records and plays with the programs of the machine', async () => {
    const { upstream, devices, app } = world
    using device = makeDevice(app.url)
    const at = (name: string) => device.folder.file(name)
    fakePrograms(device.folder.path, {
      arecord: `/bin/cat ${at('question.wav')}`,
      mpg123: `/bin/cat >> ${at('played.mp3')}`,
      aplay: `/bin/cat > ${at('played.raw')}`,
    })
    const { code } = await devices.register()
    upstream.transcriptions.fault(400)
    const lines = ['', '', '/speak 你好', `/audio ${device.question}`, 'no program says this']
    const { out, code: exit } = await device.start(['--code', code], lines)
    expect(out).toContain('502 ')
    expect(out).toContain('Say it again')
    expect(out.match(/^Answer: /gm)).toHaveLength(2)
    expect(out).toContain('espeak-ng is not installed')
    expect(Bun.file(at('played.raw')).size).toBe(6_400 * 2)
    expect(Bun.file(at('played.mp3')).size).toBeGreaterThan(1_000)
    expect(exit).toBe(0)
  }, 60_000)

  test('the simulated device reports a revoked key, and pairs again', async () => {
    const { devices, app } = world
    using device = makeDevice(app.url)
    const { id, code } = await devices.register()
    await device.start(['--code', code, '--speak', '你好', '--out', device.folder.file('a.wav')])
    const { body } = await devices.call('POST', `/${id}/recode`)
    const cut = await device.start(['--audio', device.question])
    expect(cut.out).toContain('it was cut off')
    expect(cut.out).toContain('choose New code')
    expect(cut.code).toBe(3)
    const spent = await device.start(['--code', code, '--audio', device.question])
    expect(spent.out).toContain('older than 15 minutes, or was replaced')
    expect(spent.code).toBe(3)
    const again = await device.start(['--code', String(body.activation_code)], [])
    expect(again.out).toContain(`Paired as device ${id}`)
    expect(again.code).toBe(0)
  }, 60_000)

  test('a used pairing code leaves no file, and is distinguished from a wrong one', async () => {
    const { devices, app } = world
    using device = makeDevice(app.url)
    const { code } = await devices.pair()
    const used = await device.start(['--code', code])
    expect(used.out).toContain('works once only')
    expect(used.code).toBe(3)
    expect((await device.start(['--code', 'NOPE'])).out).toContain('The code is wrong')
    expect((await device.start([])).out).toContain('not paired')
    expect(readdirSync(device.folder.path).filter((name) => name.includes('key'))).toEqual([])
  }, 60_000)

  test('the simulated device sends its key to its own server only', async () => {
    const { devices, app } = world
    using device = makeDevice(app.url)
    const kept = { server: 'http://other:3900', device_id: 'd', key: 'sk-mb-secret' }
    await Bun.write(device.key, JSON.stringify(kept))
    const { code } = await devices.register()
    const { out, code: exit } = await device.start(['--code', code])
    expect(out).toContain('the key for http://other:3900, which is not sent to')
    expect(out).not.toContain('secret')
    expect(exit).toBe(1)
    await Bun.write(device.key, 'sk-mb-secret')
    expect((await device.start([])).out).toContain('is not the key file of a device')
  }, 60_000)

  test('the simulated device waits when asked to, and reports other refusals', async () => {
    const refusals: Record<string, number[]> = {
      '/v1/devices/activate': [429, 503],
      '/v1/voice': [413, 503, 503, 503],
    }
    await using busy = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch(request) {
        const status = refusals[new URL(request.url).pathname]?.shift()
        if (status) return new Response('拒绝', { status, headers: { 'retry-after': '0' } })
        return Response.json({ device_id: 'd', key: 'k', app_id: null })
      },
    })
    using device = makeDevice(busy.url.origin)
    const line = `/audio ${device.question}`
    const { out } = await device.start(['--code', 'x'], [line, line])
    expect(out).toContain('asks to wait (429); going on in 0 s')
    expect(out).toContain('Paired as device d')
    expect(out).toContain('413 拒绝\nThe recording is too large or too long')
    expect(out).toContain('503 拒绝\nThe server is busy')
    busy.stop(true)
    const gone = await device.start(['--audio', device.question])
    expect(gone.out).toContain('was not reached')
    expect(gone.out).toContain('same network')
    expect(gone.code).toBe(1)
  }, 60_000)

  test('the simulated board pairs, asks in writing, and interrupts an answer', async () => {
    const { upstream, devices, app } = world
    using device = makeDevice(app.url)
    const { code } = await devices.register()
    upstream.reply({ text: '晴。' })
    const args = ['--protocol', 'xiaozhi', '--code', code, '--frames', '3', '--frame-ms', '20']
    const first = await device.start([...args, '--type', '天气'])
    expect(first.out).toMatch(/Connected to ws:.*\nstt: 天气\nsentence_start: 晴。\nFirst sound/)
    expect(first.code).toBe(0)
    upstream.reply({ text: '很长的故事。' })
    upstream.speech.reply({ ms: 60_000 })
    const { out } = await device.start([...args, '--abort', '0', '--no-dtx'], ['/type 讲个故事'])
    expect(out).toMatch(/0\.\d\d s of speech before it was aborted/)
    const wrong = await device.start([...args, '--abort', 'soon', '--type', '在吗'])
    expect(wrong.out).toContain('--abort is a whole number')
  }, 60_000)

  test('the simulated device refuses wrong options and prints its help', async () => {
    using device = makeDevice('not a url')
    const wrong = await device.start([])
    expect(wrong.out).toContain('--server is needed')
    expect(wrong.code).toBe(2)
    const help = await device.start(['--help'])
    expect(help.out).toContain('--code CODE')
    expect(help.code).toBe(0)
    expect(existsSync(device.key)).toBe(false)
  }, 60_000)
})

// A real recogniser and real speech; without them the scripted ones above have to do.
describe.skipIf(missing.length > 0)('the simulated device with a real recogniser', () => {
  test('the simulated device is understood, and its answer is, too', async () => {
    const [question = '', answer = ''] = PHRASES
    await using recogniser = startRecogniser(PHRASES)
    const env = { MB_TTS_KIND: 'espeak', MB_TTS_BASE_URL: '', MB_ASR_BASE_URL: recogniser.baseUrl }
    await using world = await startVoiceApp({ env })
    const { upstream, devices, app } = world
    using device = makeDevice(app.url, () => process.env.PATH ?? '')
    upstream.reply({ text: answer })
    const out = device.folder.file('answer.mp3')
    const { id, code } = await devices.register()
    const { out: told } = await device.start(['--code', code, '--say', question, '--out', out])
    expect(told).toContain(`You:    ${question}\nAnswer: ${answer}\n`)
    expect(await recognise(await Bun.file(out).bytes(), PHRASES)).toBe(answer)

    const speech = device.folder.file('speech.wav')
    await device.start(['--speak', answer, '--out', speech])
    expect(await recognise(await Bun.file(speech).bytes(), PHRASES)).toBe(answer)
    await devices.call('POST', `/${id}/recode`)
    const cut = await device.start(['--say', question])
    expect(cut.out).toContain('it was cut off')
    expect(cut.code).toBe(3)
  }, 60_000)
})
