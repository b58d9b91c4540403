import { afterEach, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSherpaAsr, type SherpaAsr } from '../../src/channels/sherpa/asr.ts'
import { type Clock, systemClock } from '../../src/core/clock.ts'
import { appError } from '../../src/core/errors.ts'
import { ASR_MS_MAX } from '../../src/core/limits/machine.ts'
import { NO_LOG } from '../../src/core/log.ts'
import type { AudioClip } from '../../src/upstream/ports/speech.ts'
import { tempFolder } from '../support/temp.ts'

const WORKER = join(import.meta.dir, '..', 'fixtures', 'asr-worker.ts')
const [DIE, HANG, FAIL] = [1, 2, 3]
const IDLE_MS = 10 * 60_000
const opened: { asr: SherpaAsr; folder: Disposable }[] = []
afterEach(async () => {
  for (const { asr, folder } of opened.splice(0)) {
    await asr.close()
    folder[Symbol.dispose]()
  }
})

/** Recordings are the samples themselves; they come in parts that split samples. */
async function* decode({ bytes }: AudioClip, _rate: number, signal: AbortSignal) {
  for (let at = 0; at < bytes.length; at += 7) {
    signal.throwIfAborted()
    yield bytes.subarray(at, at + 7)
  }
}

/** Limits on waiting are reached when the test says so. */
function handClock() {
  const timers = new Set<{ ms: number; task: () => void }>()
  const clock: Clock = {
    ...systemClock(),
    after(ms, task) {
      const timer = { ms, task }
      timers.add(timer)
      return () => timers.delete(timer)
    },
  }
  const fire = (ms: number) => {
    for (const timer of [...timers]) if (timer.ms === ms) timer.task()
  }
  return { clock, fire, set: (ms: number) => [...timers].filter((timer) => timer.ms === ms).length }
}

function start({ loads = 'yes', read = decode } = {}) {
  const folder = tempFolder()
  const journal = folder.file('journal')
  const hand = handClock()
  const command = { argv: [process.execPath, WORKER, journal, loads] }
  const { clock } = hand
  const codecs = { decode: read }
  const asr = createSherpaAsr({ command, clock, log: NO_LOG, codecs })
  opened.push({ asr, folder })
  const lines = () => (existsSync(journal) ? readFileSync(journal, 'utf8').trim().split('\n') : [])
  return {
    ...hand,
    asr,
    async hear(first = 0, signal = new AbortController().signal, tenantId = 't') {
      const bytes = new Uint8Array(Int16Array.of(first, 0, 0, 0).buffer)
      return (await asr.transcribe({ bytes, tenantId }, signal)).text
    },
    /** Resolves when the process has begun with a recording that starts with this sample. */
    async begun(first: number) {
      while (!lines().includes(`heard ${first}`)) await Bun.sleep(5)
    },
    pids: () => lines().flatMap((line) => line.match(/^started (\d+)$/)?.[1] ?? []),
  }
}

const alive = (pid: string | undefined) => {
  try {
    return process.kill(Number(pid), 0)
  } catch {
    return false
  }
}

test('the recogniser starts with the first recording and serves the next one', async () => {
  const { asr, hear, pids } = start()
  expect(asr.lastOk()).toBeNull()
  expect(pids()).toEqual([])
  expect(await hear()).toBe('4 samples')
  expect(await hear()).toBe('4 samples')
  expect(pids()).toHaveLength(1)
  expect(asr.lastOk()).toBe(true)
})

test('concurrent recordings are all recognised, one after another', async () => {
  const { hear, pids } = start()
  const texts = await Promise.all(Array.from({ length: 40 }, () => hear()))
  expect(new Set(texts)).toEqual(new Set(['4 samples']))
  expect(pids()).toHaveLength(1)
})

test('a tenant with many recordings delays another tenant by one of them', async () => {
  const { hear } = start()
  const heard: string[] = []
  const by = (tenantId: string) => () => void heard.push(tenantId)
  const { signal } = new AbortController()
  const many = Array.from({ length: 20 }, () => hear(0, signal, 'busy').then(by('busy')))
  const one = hear(0, signal, 'other').then(by('other'))
  await Promise.all([...many, one])
  expect(heard.indexOf('other')).toBeLessThanOrEqual(2)
})

test('a process that dies fails its recording, and a new one takes the next', async () => {
  const { asr, hear, pids } = start()
  const [dying, waiting] = [hear(DIE), hear()]
  await expect(dying).rejects.toMatchObject({
    name: 'ChannelFailure',
    reason: 'channel_unavailable',
    phrase: 'process ended',
  })
  expect(await waiting).toBe('4 samples')
  expect(pids()).toHaveLength(2)
  expect(asr.lastOk()).toBe(true)
})

test('a recording that the model fails at leaves the process running', async () => {
  const { asr, hear, pids } = start()
  await expect(hear(FAIL)).rejects.toMatchObject({ name: 'ChannelFailure' })
  expect(asr.lastOk()).toBe(false)
  expect(await hear()).toBe('4 samples')
  expect(pids()).toHaveLength(1)
})

test('a model that cannot be loaded fails every time, and the log says why', async () => {
  const { asr, hear } = start({ loads: 'no' })
  await expect(hear()).rejects.toMatchObject({
    name: 'ChannelFailure',
    phrase: 'voice pack cannot be loaded',
  })
  await expect(asr.load()).rejects.toThrow('no such model')
  expect(asr.lastOk()).toBe(false)
})

test('a recording that takes too long fails, and its process is ended', async () => {
  const { hear, fire, begun, pids } = start()
  const slow = hear(HANG)
  await begun(HANG)
  fire(ASR_MS_MAX)
  await expect(slow).rejects.toMatchObject({ phrase: 'recognition takes too long' })
  const next = hear()
  fire(15_000)
  expect(await next).toBe('4 samples')
  expect(pids()).toHaveLength(2)
})

test('an aborted recording rejects at once, waiting or running', async () => {
  const { hear, begun, fire, pids } = start()
  const [heard, waited] = [new AbortController(), new AbortController()]
  const [first, second, third] = [hear(HANG, heard.signal), hear(0, waited.signal), hear()]
  await begun(HANG)
  waited.abort(new Error('left the queue'))
  await expect(second).rejects.toThrow('left the queue')
  heard.abort(new Error('left'))
  await expect(first).rejects.toThrow('left')
  fire(15_000)
  expect(await third).toBe('4 samples')
  expect(pids()).toHaveLength(2)
})

test('an unreadable recording is reported as such, not as a recogniser failure', async () => {
  const tooLong = appError('audio_too_long', { max: 15 })
  async function* read() {
    yield new Uint8Array(6)
    throw tooLong
  }
  const { asr, hear, pids } = start({ read })
  await expect(hear()).rejects.toBe(tooLong)
  await expect(hear()).rejects.toBe(tooLong)
  expect(asr.lastOk()).toBeNull()
  expect(pids()).toHaveLength(1)
})

test('an idle recogniser process stops, and starts again when needed', async () => {
  const { hear, fire, set, pids } = start()
  await hear()
  expect(set(IDLE_MS)).toBe(1)
  fire(IDLE_MS)
  while (alive(pids()[0])) await Bun.sleep(5)
  expect(await hear()).toBe('4 samples')
  expect(pids()).toHaveLength(2)
})

test('a closed recogniser leaves no process and starts none', async () => {
  const { asr, hear, begun, pids } = start()
  const cut = hear(HANG)
  cut.catch(() => null)
  await begun(HANG)
  await asr.close()
  expect(pids().map(alive)).toEqual([false])
  await expect(cut).rejects.toMatchObject({ name: 'ChannelFailure' })
  await expect(hear()).rejects.toMatchObject({ name: 'ChannelFailure' })
  expect(pids()).toHaveLength(1)
})

test('closing does not wait for a model that is being loaded', async () => {
  const { asr, pids } = start({ loads: 'slowly' })
  const loading = asr.load().catch((error: unknown) => error)
  while (pids().length === 0) await Bun.sleep(5)
  await asr.close()
  expect(await loading).toMatchObject({ name: 'ChildUnloadable' })
  expect(pids().map(alive)).toEqual([false])
})

test('a process that died unnoticed is replaced, and the recording recognised', async () => {
  const { asr, hear, pids } = start()
  await hear()
  process.kill(Number(pids()[0]), 'SIGKILL')
  expect(await hear()).toBe('4 samples')
  expect(pids()).toHaveLength(2)
  expect(asr.lastOk()).toBe(true)
})

test('a recogniser process that does not answer is ended and replaced', async () => {
  const { hear, fire, set, pids } = start()
  await hear()
  const [first] = pids()
  process.kill(Number(first), 'SIGSTOP')
  const next = hear()
  while (set(5_000) === 0) await Bun.sleep(5)
  fire(5_000)
  expect(await next).toBe('4 samples')
  expect(alive(first)).toBe(false)
})
