import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { guideBlock, heardBy, startVoiceApp, typeInto } from '../support/manual-programs.ts'
import { pcm16, tone } from '../support/recordings.ts'
import { type TempFolder, tempFolder } from '../support/temp.ts'

const COMPILER = Bun.which('g++')
if (!COMPILER) process.stderr.write("skipped: no g++ here to compile the guide's sketch\n")

const BOARD = join(import.meta.dir, '../fixtures/arduino')
const FLAGS = ['-std=gnu++17', '-Wall', '-Wextra', '-Werror', '-pthread', `-I${BOARD}`]
const SPEECH = pcm16(tone(16_000, 0.4, 440, 0.2))

/** Compiles the sketch of the guide for a board whose parts are files. */
async function compile(folder: TempFolder, url: string): Promise<string> {
  const sketch = await guideBlock('file=moonbase-device.ino')
  const source = folder.file('sketch.cpp')
  await Bun.write(source, sketch.replace('http://192.168.1.10:3900', url))
  const program = folder.file('board')
  const parts = [source, join(BOARD, 'board.cpp'), join(BOARD, 'esp_http_client.cpp')]
  const child = Bun.spawn([COMPILER ?? '', ...FLAGS, ...parts, '-o', program], { stderr: 'pipe' })
  const [err, code] = await Promise.all([new Response(child.stderr).text(), child.exited])
  if (code !== 0) throw new Error(err)
  return program
}

// Without a compiler the sketch can only be read.
describe.skipIf(!COMPILER)('the ESP32 sketch of the guide', () => {
  const folder = tempFolder()
  const files = { mic: folder.file('mic'), amp: folder.file('amp'), flash: folder.file('flash') }
  let world: Awaited<ReturnType<typeof startVoiceApp>>
  let program = ''
  beforeAll(async () => {
    world = await startVoiceApp()
    program = await compile(folder, world.app.url)
    await Bun.write(files.mic, SPEECH)
  }, 60_000)
  afterEach(async () => {
    world.upstream.reset()
    await Bun.file(files.flash)
      .delete()
      .catch(() => {})
  })
  afterAll(async () => {
    await world[Symbol.asyncDispose]()
    folder[Symbol.dispose]()
  })
  const start = (lines: readonly string[]) =>
    typeInto([program], lines, {
      BOARD_MIC: files.mic,
      BOARD_AMP: files.amp,
      BOARD_FLASH: files.flash,
    })

  test('the ESP32 sketch pairs, sends sound in chunks, and plays both channels', async () => {
    const { upstream, devices, app } = world
    const question = 'Is the "moon"\nup?\\'
    upstream.transcriptions.reply({ text: question })
    upstream.reply({ text: '在，“很亮”。\n第二行' })
    const { id, code } = await devices.register()
    const { out, code: exit } = await start([`${code.slice(0, 4)} ${code.slice(4)}\r`])
    expect(out).toContain(`Paired as device ${id}`)
    expect(exit).toBe(0)

    const recording = await heardBy(upstream)
    expect(recording.toString('latin1', 0, 4)).toBe('RIFF')
    // Nothing is lost on the way; the last 20 ms are filled up with silence.
    expect(recording.subarray(44, 44 + SPEECH.length)).toEqual(Buffer.from(SPEECH))
    const asked = upstream.requests.find(({ path }) => path === '/chat/completions')
    expect(JSON.stringify(asked?.body.messages)).toContain(JSON.stringify(question).slice(1, -1))
    const spoken = upstream.requests.find(({ path }) => path === '/audio/speech')
    expect(spoken?.body.input).toBe('在，“很亮”。\n第二行')

    const key = { authorization: `Bearer ${await Bun.file(files.flash).text()}` }
    const body = JSON.stringify({ text: '在' })
    const stream = { method: 'POST', headers: key, body }
    const mono = new Int16Array(
      await (await fetch(`${app.url}/v1/tts/stream`, stream)).arrayBuffer(),
    )
    const stereo = new Int16Array(await Bun.file(files.amp).arrayBuffer())
    expect(stereo).toEqual(
      Int16Array.from({ length: mono.length * 2 }, (_, i) => mono[i >> 1] ?? 0),
    )
    const { body: device } = await devices.call('GET', `/${id}`)
    expect(device).toMatchObject({ firmware: '1.0.0', hw_model: 'ESP32' })
  }, 60_000)

  test('the ESP32 sketch starts again with the key in its flash', async () => {
    const { devices } = world
    const { code } = await devices.register()
    await start([code])
    const { out, code: exit } = await start([])
    expect(out).not.toContain('Activation code')
    expect(out).toContain('You: ')
    expect(exit).toBe(0)
  }, 60_000)

  test('the ESP32 sketch forgets a revoked key and asks for a new code', async () => {
    const { devices } = world
    const { id, code } = await devices.register()
    await start([code])
    const { body } = await devices.call('POST', `/${id}/recode`)
    const { out, code: exit } = await start([code, String(body.activation_code)])
    expect(out).toContain('Heartbeat: status 401')
    expect(out).toContain('make a new code')
    expect(out).toContain(`Paired as device ${id}`)
    expect(exit).toBe(0)
  }, 60_000)

  test('the ESP32 sketch reports a used code, and speech it did not understand', async () => {
    const { upstream, devices } = world
    const { code } = await devices.pair()
    const used = await start([code])
    expect(used.out).toContain('Activation: status 410')
    expect(used.code).toBe(3)
    expect(existsSync(files.flash)).toBe(false)
    const { code: fresh } = await devices.register()
    upstream.transcriptions.alwaysFault(400)
    const { out } = await start([fresh])
    expect(out).toContain('Recognition: status 502')
    expect(out).toContain('Repeat.')
  }, 60_000)
})
