import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { type CreatedKey, createKey } from '../support/key.ts'
import { mp3Frames } from '../support/mp3-frames.ts'
import { nicenessOf } from '../support/niceness.ts'
import { type Server, startServer } from '../support/server.ts'
import { tempFolder } from '../support/temp.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let server: Server
let upstream: Upstream
let key: CreatedKey
const folder = tempFolder()

beforeAll(async () => {
  upstream = await startUpstream()
  const env = { MB_TTS_BASE_URL: upstream.baseUrl }
  server = await startServer({ dataDir: folder.path, env })
  key = await createKey(folder.path)
})
afterAll(async () => {
  await server?.stop()
  await upstream?.stop()
  folder[Symbol.dispose]()
})

const say = (text: string) =>
  fetch(`${server.url}/v1/tts`, {
    method: 'POST',
    headers: key.headers,
    body: JSON.stringify({ text }),
  })

/** Processor time of the server's main thread and of all its threads (proc(5)). */
function processorTime() {
  const ticks = (path: string) => {
    const stat = readFileSync(path, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return Number(fields[11]) + Number(fields[12])
  }
  const { pid } = server
  return { main: ticks(`/proc/${pid}/task/${pid}/stat`), all: ticks(`/proc/${pid}/stat`) }
}

test('speech is encoded at a lower priority than the server has', async () => {
  upstream.speech.reply({ ms: 100 })
  await (await say('短')).arrayBuffer()
  expect(nicenessOf(server.pid)).toContain(10)
  expect(getPriority(server.pid)).toBe(getPriority())
})

test('a long speech is resampled and encoded outside the thread that answers', async () => {
  const seconds = 300
  const before = processorTime()
  const sound = { rate: 22_050, ms: seconds * 1_000, contentType: 'audio/pcm;rate=22050' }
  upstream.speech.reply({ ...sound, chunkBytes: Number.MAX_SAFE_INTEGER })
  const answer = await say('一篇长文')
  const frames = mp3Frames(new Uint8Array(await answer.arrayBuffer()))
  const after = processorTime()
  expect((frames.length * 1152) / 32_000).toBeWithin(seconds, seconds + 1)
  const share = (after.main - before.main) / (after.all - before.all)
  expect(share).toBeLessThan(0.5)
}, 60_000)
