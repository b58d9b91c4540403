import { expect, test } from 'bun:test'
import { createMemoryBudget } from '../../core/memory-budget.ts'
import { Listener } from './listener.ts'
import { createEnergyDetector } from './speech-detector.ts'

/** A listener whose packets wait until `decodeOne` is called; a packet decodes to its bytes. */
function listening() {
  const turns: (() => void)[] = []
  const ended: number[][] = []
  const listener = new Listener({
    decoder: { decode: (packet) => Int16Array.from(packet), release() {} },
    detector: createEnergyDetector(),
    clock: { after: () => () => {} },
    share: createMemoryBudget(1_000_000).open('tenant'),
    inTurn: (work) =>
      new Promise((resolve) =>
        turns.push(() => {
          work()
          resolve()
        }),
      ),
    onSpeech() {},
    onEnd: (samples) => ended.push([...samples]),
  })
  const decodeOne = async () => {
    turns.shift()?.()
    await Promise.resolve()
    await Promise.resolve()
  }
  return { listener, ended, decodeOne, waiting: () => turns.length }
}

test('packets are decoded one a turn, and the answer begins after the last', async () => {
  const { listener, ended, decodeOne, waiting } = listening()
  listener.begin('manual')
  for (const byte of [1, 2, 3]) listener.push(Uint8Array.of(byte))
  listener.stop()
  listener.push(Uint8Array.of(4))
  for (let i = 0; i < 3; i++) {
    expect([waiting(), ended]).toEqual([1, []])
    await decodeOne()
  }
  expect([waiting(), ended]).toEqual([0, [[1, 2, 3]]])
})

test('packets of an utterance that is begun anew are forgotten', async () => {
  const { listener, ended, decodeOne } = listening()
  listener.begin('manual')
  listener.push(Uint8Array.of(1))
  listener.stop()
  listener.begin('manual')
  listener.push(Uint8Array.of(2))
  await decodeOne()
  listener.stop()
  await decodeOne()
  expect(ended).toEqual([[2]])
})

test.each(['abort', 'close'] as const)(
  '%s after the end of an utterance: no answer',
  async (end) => {
    const { listener, ended, decodeOne } = listening()
    listener.begin('manual')
    listener.push(Uint8Array.of(1))
    listener.stop()
    listener[end]()
    await decodeOne()
    expect(ended).toEqual([])
  },
)

test('more than 200 packets do not wait', async () => {
  const { listener, ended, decodeOne } = listening()
  listener.begin('manual')
  for (let i = 0; i < 1_000; i++) listener.push(Uint8Array.of(1))
  listener.stop()
  while (ended.length === 0) await decodeOne()
  expect(ended[0]?.length).toBe(200)
})
