import { describe, expect, test } from 'bun:test'
import { createEnergyDetector, createModelDetector } from './speech-detector.ts'

const RATE = 16_000
const seconds = (count: number) => Math.round(count * RATE)

/** eSpeak NG's words, as 16 kHz mono: 22,050 samples a second are thinned out. */
async function speech(text: string): Promise<Float32Array> {
  const program = Bun.spawn(['espeak-ng', '-v', 'en-us', '--stdout', text])
  const wav = Buffer.from(await new Response(program.stdout).arrayBuffer())
  const pcm = new Int16Array(new Uint8Array(wav.subarray(44)).buffer)
  return Float32Array.from({ length: Math.floor((pcm.length * RATE) / 22_050) }, (_, i) => {
    return (pcm[Math.floor((i * 22_050) / RATE)] ?? 0) / 32_768
  })
}

const rms = (samples: Float32Array) =>
  Math.sqrt(samples.reduce((sum, one) => sum + one * one, 0) / samples.length)

/** The same noise in every run. */
function noise(length: number, level: number): Float32Array {
  let state = 1
  return Float32Array.from({ length }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return (state / 1_073_741_824 - 1) * level * Math.sqrt(3)
  })
}
const hum = (length: number, level: number) =>
  Float32Array.from({ length }, (_, i) => {
    const at = (2 * Math.PI * 50 * i) / RATE
    return level * (Math.sin(at) + 0.3 * Math.sin(2 * at) + 0.1 * Math.sin(3 * at))
  })

interface Room {
  readonly name: string
  readonly sound: (length: number, level: number) => Float32Array
}

const ROOMS: readonly Room[] = [
  { name: 'silence', sound: (length) => new Float32Array(length) },
  { name: 'noise at 10 dB', sound: (length, level) => noise(length, level * 10 ** (-10 / 20)) },
  { name: 'a hum as loud as the voice', sound: hum },
]

/** When somebody was heard, packet by packet of 60 ms: pairs of seconds. */
function heard(samples: Float32Array): [number, number][] {
  const detector = createEnergyDetector()
  const spans: [number, number][] = []
  let was = false
  for (let at = 0; at + 960 <= samples.length; at += 960) {
    let is = false
    detector.push(
      Int16Array.from(samples.subarray(at, at + 960), (v) => v * 32_767),
      (now) => {
        is = now
      },
    )
    const [from, to] = [at / RATE, (at + 960) / RATE]
    if (is && !was) spans.push([from, to])
    const last = spans.at(-1)
    if (is && last) last[1] = to
    was = is
  }
  return spans
}

describe.each(ROOMS)('in $name', ({ sound }) => {
  test.each([0, 1])('speech after %d s is heard, and where it ends', async (lead) => {
    const said = await speech('Please turn on the light in the kitchen')
    const all = new Float32Array(seconds(lead) + said.length + seconds(2))
    all.set(said, seconds(lead))
    const room = sound(all.length, rms(said))
    const spans = heard(all.map((one, i) => one + (room[i] ?? 0)))
    const [first, last] = [spans.at(0)?.[0] ?? 9, spans.at(-1)?.[1] ?? 0]
    const end = lead + said.length / RATE
    expect(first).toBeLessThan(lead + 0.5)
    expect(first).toBeGreaterThanOrEqual(lead - 0.1)
    // The words end in a moment of silence.
    expect(last).toBeGreaterThan(end - 0.6)
    expect(last).toBeLessThan(end + 0.3)
    // No pause between the words is as long as the one that ends an utterance.
    for (const [i, [from]] of spans.entries()) {
      if (i > 0) expect(from - (spans[i - 1]?.[1] ?? 0)).toBeLessThan(0.7)
    }
  })

  test('no speech is detected where nobody speaks', () => {
    expect(heard(sound(seconds(6), 0.1))).toEqual([])
  })
})

test('sound that a codec leaves out is not taken for the room', async () => {
  const said = await speech('Hello')
  const room = noise(seconds(3), 0.01)
  room.fill(0, seconds(1), seconds(2))
  expect(heard(room)).toEqual([])
  expect(heard(Float32Array.from([...room, ...said])).length).toBeGreaterThan(0)
})

describe('with a model', () => {
  /** What the model is asked, in order; each answer is the test's. */
  function listening({ isLoaded = true } = {}) {
    const asked: PromiseWithResolvers<readonly number[] | null>[] = []
    const model = {
      push() {
        if (!isLoaded) return null
        asked.push(Promise.withResolvers())
        return asked.at(-1)?.promise ?? null
      },
      reset() {},
      close() {},
    }
    const told: boolean[] = []
    const detector = createModelDetector(model)
    const push = (level = 0) => {
      const samples = Int16Array.from({ length: 960 }, (_, i) => (i % 20 < 10 ? level : -level))
      detector.push(samples, (is) => told.push(is))
    }
    const answer = async (at: number, heard: readonly number[] | null) => {
      asked[at]?.resolve(heard)
      await asked[at]?.promise
    }
    return { detector, push, answer, told }
  }

  test('speech begins where it is likely and goes on while it may be', async () => {
    const { push, answer, told } = listening()
    for (const [at, heard] of [[0.4, 0.49], [0.51], [0.4, 0.36], [], [0.34], [0.4]].entries()) {
      push()
      await answer(at, heard)
    }
    expect(told).toEqual([false, true, true, true, false, false])
  })

  test('answers of the voice model after the utterance are dropped', async () => {
    const { detector, push, answer, told } = listening()
    push()
    detector.reset()
    push()
    await answer(1, [0.1])
    await answer(0, [0.9])
    expect(told).toEqual([false])
  })

  test('loudness decides while the model is not loaded, and where it fails', async () => {
    const loud = [100, 100, 100, 100, 100, 100, 8_000, 8_000, 8_000, 8_000]
    const unloaded = listening({ isLoaded: false })
    for (const level of loud) unloaded.push(level)
    expect(unloaded.told.at(-1)).toBe(true)
    const failing = listening()
    for (const [at, level] of loud.entries()) {
      failing.push(level)
      await failing.answer(at, null)
    }
    expect(failing.told).toEqual(unloaded.told)
  })
})
