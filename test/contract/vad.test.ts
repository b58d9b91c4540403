import { afterEach, describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { createLocalVad, type LocalVad } from '../../src/channels/onnx/vad.ts'
import { NO_LOG } from '../../src/core/log.ts'
import type { VadStream } from '../../src/upstream/ports/speech.ts'
import { fakeClock } from '../support/clock.ts'
import { SOURCES } from '../support/command.ts'
import { tempFolder } from '../support/temp.ts'
import { countingVad, senseVoice, sileroVad } from '../support/tone-models.ts'

const opened: { vad: LocalVad; folder: Disposable }[] = []
afterEach(async () => {
  for (const { vad, folder } of opened.splice(0)) {
    await vad.close()
    folder[Symbol.dispose]()
  }
})

function start(model: Uint8Array) {
  const folder = tempFolder()
  const [file, pid] = [folder.file('silero_vad.onnx'), folder.file('pid')]
  writeFileSync(file, model)
  // Tells its id, and becomes the process.
  const shell = ['sh', '-c', 'echo $$ > "$0"; exec "$@"', pid]
  const clock = fakeClock()
  // The executable would need the libraries that its server unpacks.
  const command = { argv: [...shell, ...SOURCES, 'vad-worker', file] }
  const vad = createLocalVad({ command, clock, log: NO_LOG })
  opened.push({ vad, folder })
  /** What is heard once the model is loaded; the time until it is tried again passes at once. */
  async function hear(stream: VadStream, samples: Int16Array) {
    for (;;) {
      const heard = await stream.push(samples)
      if (heard) return heard
      clock.advance(60_000)
      await Bun.sleep(5)
    }
  }
  return { vad, hear, pid: () => Number(readFileSync(pid, 'utf8')) }
}

const level = (value: number, windows = 1) => new Int16Array(512 * windows).fill(value * 32_768)

const rounded = (heard: readonly number[] | null) => heard?.map((one) => Number(one.toFixed(2)))

test('a model of version 4 hears each window of 32 ms, however the sound is cut', async () => {
  const { vad, hear } = start(sileroVad())
  const stream = vad.open()
  expect(stream.push(level(0.05))).toBeNull()
  expect(rounded(await hear(stream, level(0.05)))).toEqual([0.5])
  const cut = [level(0.1, 3).subarray(0, 700), level(0.1, 3).subarray(700)]
  const heard = await Promise.all(cut.map((part) => stream.push(part)))
  expect(heard.map((one) => rounded(one))).toEqual([[1], [1, 1]])
})

test('a voice detector of version 5 keeps the state of each stream apart', async () => {
  const { vad, hear } = start(countingVad())
  const [one, other] = [vad.open(), vad.open()]
  expect(rounded(await hear(one, level(0, 3)))).toEqual([0, 0.1, 0.2])
  expect(rounded(await hear(other, level(0)))).toEqual([0])
  expect(rounded(await hear(one, level(0)))).toEqual([0.3])
  // The end of the last window stands before the next one.
  expect(rounded(await hear(other, level(0.5)))).toEqual([0.54])
  expect(rounded(await hear(other, level(0)))).toEqual([0.26])
  one.reset()
  expect(rounded(await hear(one, level(0)))).toEqual([0])
})

describe('a process that cannot be used', () => {
  test('a voice detector that dies is started again', async () => {
    const { vad, hear, pid } = start(sileroVad())
    const stream = vad.open()
    await hear(stream, level(0.1))
    const killed = pid()
    process.kill(killed, 'SIGKILL')
    while (pid() === killed) await hear(stream, level(0))
    expect(rounded(await hear(stream, level(0.1)))).toEqual([1])
  })

  test('a file that is no voice detector is reported as such', async () => {
    const { vad } = start(senseVoice())
    await expect(vad.load()).rejects.toThrow('no Silero VAD')
    expect(vad.open().push(level(0.1))).toBeNull()
  })
})
