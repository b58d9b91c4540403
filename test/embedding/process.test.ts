import { afterEach, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createOnnxEmbedder } from '../../src/channels/onnx/embedder.ts'
import { type Clock, systemClock } from '../../src/core/clock.ts'
import { NO_LOG } from '../../src/core/log.ts'
import { DEFAULT_MODEL } from '../support/models.ts'
import { tempFolder } from '../support/temp.ts'

const WORKER = join(import.meta.dir, '..', 'fixtures', 'embed-worker.ts')
const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

interface StartOptions {
  dir?: string
  marker?: string
  env?: Record<string, string>
  clock?: Clock
}

function start(options: StartOptions = {}) {
  const { dir = DEFAULT_MODEL, marker, env = {}, clock = systemClock() } = options
  const argv = [process.execPath, WORKER, dir, ...(marker ? [marker] : [])]
  const embedder = createOnnxEmbedder({
    model: {
      id: 'm',
      name: 'm',
      tokensMax: 1024,
      relevantCosine: null,
      relevantAcross: null,
      wordVectors: true,
    },
    command: { argv, env },
    clock,
    log: NO_LOG,
  })
  open.push(embedder)
  return embedder
}

const markerPath = () => join(mkdtempSync(join(tmpdir(), 'moonbase-embed-')), 'died')

test('the embedder keeps the order of many texts over several messages', async () => {
  const embedder = start()
  const texts = Array.from({ length: 30 }, (_, i) => `第${i}条规定`)
  const all = await embedder.embed(texts, 'passage')
  expect(all).toHaveLength(30)
  const [alone] = await embedder.embed([texts[17] ?? ''], 'passage')
  expect(all[17]).toEqual(alone as Float32Array)
})

test('ONNX Runtime, which has telemetry, keeps no id in the home folder', async () => {
  using home = tempFolder()
  await start({ env: { HOME: home.path } }).embed(['甲'], 'query')
  expect(readdirSync(home.path)).not.toContain('.cache')
})

test('an embedding process killed in the middle is replaced, the request succeeds', async () => {
  const embedder = start({ marker: markerPath() })
  const vectors = await embedder.embed(['甲', 'die', '乙'], 'passage')
  expect(vectors).toHaveLength(3)
})

test('a request that kills every embedding process fails, the next is served', async () => {
  const embedder = start()
  const failed = embedder.embed(['die'], 'query')
  await expect(failed).rejects.toMatchObject({
    name: 'ChannelFailure',
    reason: 'channel_unavailable',
  })
  await failed.catch(() => null)
  expect(await embedder.embed(['甲'], 'query')).toHaveLength(1)
})

test('a folder that is no model fails without naming paths', async () => {
  const failed = start({ dir: tmpdir() }).embed(['甲'], 'query')
  await expect(failed).rejects.toMatchObject({ name: 'ChannelFailure', phrase: 'embedding failed' })
  await failed.catch(() => null)
})

test('a query overtakes the passages that wait for the embedder', async () => {
  const embedder = start()
  await embedder.embed(['warm'], 'query')
  const done: string[] = []
  const texts = Array.from({ length: 80 }, (_, i) => `第${i}条。`.repeat(100))
  const passages = embedder.embed(texts, 'passage').then(() => done.push('passages'))
  const query = embedder.embed(['问题'], 'query').then(() => done.push('query'))
  await Promise.all([passages, query])
  expect(done).toEqual(['query', 'passages'])
})

test('an aborted embedding rejects at once and leaves the others alone', async () => {
  const embedder = start()
  const abort = new AbortController()
  const aborted = embedder.embed(['甲'], 'query', abort.signal)
  const other = embedder.embed(['乙'], 'query')
  abort.abort(new Error('left'))
  await expect(aborted).rejects.toThrow('left')
  await aborted.catch(() => null)
  expect(await other).toHaveLength(1)
  await expect(embedder.embed(['丙'], 'query', abort.signal)).rejects.toThrow('left')
})

test('an idle embedding process stops, and starts again when needed', async () => {
  const STARTS = markerPath()
  const idle: (() => void)[] = []
  const clock = systemClock()
  const after: Clock['after'] = (ms, task) => {
    if (ms !== 10 * 60_000) return clock.after(ms, task)
    idle.push(task)
    return () => {}
  }
  const embedder = start({ env: { STARTS }, clock: { ...clock, after } })
  const [first] = await embedder.embed(['甲'], 'query')
  await embedder.embed(['乙'], 'query')
  expect(readFileSync(STARTS, 'utf8')).toBe('started\n')
  idle.at(-1)?.()
  const [again] = await embedder.embed(['甲'], 'query')
  expect(again).toEqual(first as Float32Array)
  expect(readFileSync(STARTS, 'utf8')).toBe('started\nstarted\n')
})

test('a closed embedder refuses new texts', async () => {
  const embedder = start()
  const cut = embedder.embed(['甲'], 'query')
  cut.catch(() => null)
  await embedder.close()
  await expect(cut).rejects.toMatchObject({ name: 'ChannelFailure' })
  await expect(embedder.embed(['甲'], 'query')).rejects.toMatchObject({ name: 'ChannelFailure' })
})
