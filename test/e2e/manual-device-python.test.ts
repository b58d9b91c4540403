import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, statSync } from 'node:fs'
import {
  fakePrograms,
  guideBlock,
  heardBy,
  startVoiceApp,
  typeInto,
} from '../support/manual-programs.ts'
import { tone, wav } from '../support/recordings.ts'
import { startServer } from '../support/server.ts'
import { tempFolder } from '../support/temp.ts'

/** The interpreter itself: what is on the PATH may be the shim of a version manager. */
function findPython(): string | null {
  const found = Bun.which('python3')
  if (found === null) return null
  const told = Bun.spawnSync([found, '-c', 'import sys; print(sys.executable)'])
  return told.success ? told.stdout.toString().trim() : null
}

const PYTHON = findPython()
const OPENSSL = Bun.which('openssl')
if (!PYTHON) process.stderr.write("skipped: no python3 here to run the guide's program\n")
if (!OPENSSL) process.stderr.write("skipped: no openssl here to run the guide's commands\n")

const QUESTION = wav(16_000, tone(16_000, 0.4))
const file = (path: string) => Bun.file(path)

/** A Raspberry Pi: the guide's program, and programs that stand for its sound. */
async function makePi(url: string) {
  const folder = tempFolder()
  const program = folder.file('device.py')
  await Bun.write(program, await guideBlock('file=moonbase-device.py'))
  await Bun.write(folder.file('question.wav'), QUESTION)
  const programs = fakePrograms(folder.file('bin'), {
    arecord: `echo "$@" > ${folder.file('recorded')}; /bin/cat ${folder.file('question.wav')}`,
    aplay: `echo "$@" > ${folder.file('played')}; /bin/cat > ${folder.file('sound.raw')}`,
  })
  const key = folder.file('key.json')
  return {
    folder,
    key,
    start: (args: readonly string[], lines: readonly string[] = []) =>
      typeInto([PYTHON ?? '', program, url, '--key-file', key, ...args], lines, {
        PATH: programs,
      }),
    [Symbol.dispose]: folder[Symbol.dispose],
  }
}

// Without python3 there is nothing to run.
describe.skipIf(!PYTHON)('the Raspberry Pi program of the guide', () => {
  let world: Awaited<ReturnType<typeof startVoiceApp>>
  beforeAll(async () => {
    world = await startVoiceApp()
  })
  afterEach(() => world.upstream.reset())
  afterAll(() => world[Symbol.asyncDispose]())

  test('the Raspberry Pi program pairs, listens, answers and speaks', async () => {
    const { upstream, devices, app } = world
    using pi = await makePi(app.url)
    upstream.transcriptions.reply({ text: '明天会下雨吗？' })
    upstream.reply({ text: '不会。' })
    const { id, code } = await devices.register()
    const { out, code: exit } = await pi.start(['--code', code.toLowerCase()], [''])
    expect(out).toContain(`Paired as device ${id}`)
    expect(out).toContain('You:    明天会下雨吗？')
    expect(out).toContain('Answer: 不会。')
    expect(exit).toBe(0)
    expect(statSync(pi.key).mode & 0o777).toBe(0o600)
    expect(await heardBy(upstream)).toEqual(Buffer.from(QUESTION))
    expect(await file(pi.folder.file('recorded')).text()).toContain('-f S16_LE -r 16000 -c 1 -d 5')
    expect(await file(pi.folder.file('played')).text()).toContain('-f S16_LE -r 32000 -c 1')
    // 200 ms, which is how long the upstream speaks.
    expect(file(pi.folder.file('sound.raw')).size).toBe(6_400 * 2)
    const { body } = await devices.call('GET', `/${id}`)
    expect(body).toMatchObject({ firmware: '1.0.0', hw_model: 'Raspberry Pi' })
  }, 60_000)

  test('the Raspberry Pi program starts again with its key, and plays mp3', async () => {
    const { devices, app } = world
    using pi = await makePi(app.url)
    const { code } = await devices.register()
    await pi.start(['--code', code])
    const mp3 = pi.folder.file('answer.mp3')
    fakePrograms(pi.folder.file('bin'), { mpg123: `/bin/cat > ${mp3}` })
    const { out, code: exit } = await pi.start(['--code', code], [''])
    expect(out).not.toContain('Paired')
    expect(exit).toBe(0)
    expect((await file(mp3).bytes()).slice(0, 1)[0]).toBe(0xff)
    expect(existsSync(pi.folder.file('sound.raw'))).toBe(false)
  }, 60_000)

  test('the Raspberry Pi program says what to do when its key was revoked', async () => {
    const { devices, app } = world
    using pi = await makePi(app.url)
    const { id, code } = await devices.register()
    await pi.start(['--code', code])
    const { body } = await devices.call('POST', `/${id}/recode`)
    const cut = await pi.start([], [''])
    expect(cut.out).toContain('401')
    expect(cut.out).toContain('choose New code')
    expect(cut.code).toBe(1)
    const again = await pi.start(['--code', String(body.activation_code)])
    expect(again.out).toContain(`Paired as device ${id}`)
    expect(again.code).toBe(0)
  }, 60_000)

  test('the Raspberry Pi program tells a used code from a wrong one', async () => {
    const { devices, app } = world
    using pi = await makePi(app.url)
    const { code } = await devices.pair()
    expect((await pi.start(['--code', code])).out).toContain('This code was used before')
    expect((await pi.start(['--code', 'AAAA-BBBB'])).out).toContain('a code lasts 15 minutes')
    expect((await pi.start([])).out).toContain('Not paired yet')
    expect(existsSync(pi.key)).toBe(false)
  }, 60_000)

  test('the Raspberry Pi program sends its key to no other server', async () => {
    const { devices, app } = world
    using pi = await makePi(app.url)
    await Bun.write(pi.key, JSON.stringify({ server: 'http://other:3900', key: 'sk-mb-x' }))
    const { code } = await devices.register()
    const { out, code: exit } = await pi.start(['--code', code])
    expect(out).toContain('is for http://other:3900')
    expect(exit).toBe(1)
  }, 60_000)

  test('the Raspberry Pi program waits when asked to, and repeats a question', async () => {
    const refusals: Record<string, number[]> = {
      '/v1/devices/activate': [503],
      '/v1/voice': [429, 502],
    }
    await using busy = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch(request) {
        const status = refusals[new URL(request.url).pathname]?.shift()
        if (status) return new Response('拒绝', { status, headers: { 'retry-after': '0' } })
        const turn = { asr_text: 'a', reply_text: 'b', audio_b64: null, audio_format: 'mp3' }
        return Response.json({ key: 'k', device_id: 'd', ...turn })
      },
    })
    using pi = await makePi(busy.url.href)
    const { out, code } = await pi.start(['--code', 'x'], ['', ''])
    expect(out.match(/asks to wait 0 s/g)).toHaveLength(2)
    expect(out).toContain('502 拒绝')
    expect(out).toContain('Please repeat.')
    expect(out).toContain('Answer: b')
    expect(code).toBe(0)
  }, 60_000)

  // The guide's own commands make the certificates.
  test.skipIf(!OPENSSL)(
    'the Raspberry Pi program trusts the given authority and no other',
    async () => {
      using folder = tempFolder()
      const commands = (await guideBlock('openssl req -x509')).replace('192.168.1.10', '127.0.0.1')
      const made = Bun.spawnSync(['/bin/sh', '-ec', commands], { cwd: folder.path, stderr: 'pipe' })
      expect({ code: made.exitCode, err: made.exitCode ? String(made.stderr) : '' }).toEqual({
        code: 0,
        err: '',
      })
      const env = { MB_TLS_CERT: folder.file('server.pem'), MB_TLS_KEY: folder.file('server.key') }
      await using server = await startServer({ dataDir: folder.file('data'), env })
      const url = `https://127.0.0.1:${new URL(server.url).port}`
      using pi = await makePi(url)
      const trusted = await pi.start(['--ca', folder.file('ca.pem'), '--code', 'AAAA'])
      expect(trusted.out).toContain('401')
      const stranger = await pi.start(['--code', 'AAAA'])
      expect(stranger.out).toContain('certificate verify failed')
      expect(stranger.code).toBe(1)
    },
    60_000,
  )
})
