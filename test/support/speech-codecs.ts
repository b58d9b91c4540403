import { fileURLToPath } from 'node:url'
import { createAudioCodecs } from '../../src/audio/index.ts'
import { programAt } from '../../src/commands/program.ts'
import { type Clock, systemClock } from '../../src/core/clock.ts'
import type { Tts } from '../../src/upstream/ports/speech.ts'
import { openParser } from '../../src/wiring/machine.ts'

const MAIN = new URL('../../src/main.ts', import.meta.url)
const { parseWorker, encoderUrl } = programAt(MAIN.href, [process.execPath, fileURLToPath(MAIN)])
const clock = systemClock()

/** Parse workers as the command line starts them; they end with this process. */
const parser = openParser(parseWorker, clock)

/** The product's codecs as the command line opens them. */
export const codecs = createAudioCodecs({ clock, encoderUrl, parser, threads: 1 })

/** Longer than any timeout under test. */
const EXPIRY_MS = 60 * 60_000

/** A clock whose back-off takes no time, and whose timeouts expire when `expire` is called. */
export function patientClock() {
  const limits = new Set<() => void>()
  const waits: number[] = []
  const system = systemClock()
  let skippedMs = 0
  const clock: Clock = {
    ...system,
    now: () => system.now() + skippedMs,
    steady: () => system.steady() + skippedMs,
    sleep: async (ms) => void waits.push(ms),
    after(_ms, task) {
      limits.add(task)
      return () => limits.delete(task)
    },
  }
  return {
    clock,
    waits,
    expire() {
      skippedMs += EXPIRY_MS
      const due = [...limits]
      limits.clear()
      for (const task of due) task()
    },
  }
}

/** The whole result of one call of an adapter. */
export async function listen(
  tts: Tts,
  request: { readonly text?: string; readonly voice?: string } = {},
  signal = new AbortController().signal,
) {
  const { text = '你好', voice = 'female-shaonv' } = request
  const stream = await tts.speak({ text, voice, tenantId: 't' }, signal)
  const parts: Uint8Array[] = []
  for await (const chunk of stream.chunks) parts.push(chunk)
  return { rate: stream.rate, pcm: Buffer.concat(parts) }
}
