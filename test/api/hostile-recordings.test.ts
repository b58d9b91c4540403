import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { endlessFragment, endlessSizes, spinningWebm } from '../support/hostile-recordings.ts'
import { type CreatedKey, createKey } from '../support/key.ts'
import { tone, wav } from '../support/recordings.ts'
import { type Server, startServer } from '../support/server.ts'
import { tempFolder } from '../support/temp.ts'
import { frame, startWyoming } from '../support/upstream-wyoming.ts'

// A Wyoming server takes samples, so the product decodes every recording for it.

let server: Server
let upstream: Awaited<ReturnType<typeof startWyoming>>
let attacker: CreatedKey
let other: CreatedKey
const folder = tempFolder()

beforeAll(async () => {
  upstream = await startWyoming(({ type }, socket) => {
    if (type === 'audio-stop') socket.write(frame('transcript', { text: '你好' }))
  })
  const env = { MB_ASR_BASE_URL: upstream.baseUrl, MB_TTS_KIND: 'none' }
  server = await startServer({ dataDir: folder.path, env })
  attacker = await createKey(folder.path, { email: 'attacker@example.com' })
  other = await createKey(folder.path, { email: 'other@example.com' })
})
afterAll(async () => {
  await server?.stop()
  await upstream?.[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

async function hear({ headers }: CreatedKey, sound: Uint8Array) {
  const body = new Uint8Array(sound)
  const answer = await fetch(`${server.url}/v1/asr`, { method: 'POST', headers, body })
  return { status: answer.status, body: await answer.text() }
}

const speech = wav(16_000, tone(16_000, 1))
const HEARD = { status: 200, body: '{"text":"你好"}' }
const UNREADABLE = { status: 502, body: '语音识别暂不可用，请稍后重试' }
const MEGABYTE = 1024 * 1024

/** Memory of the server and of the processes it has started (proc(5)). */
function memory() {
  const children = readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8')
  const pids = children.split(' ').filter(Boolean)
  const bytesOf = (pid: number | string) => {
    try {
      const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
      return Number(kilobytes ?? 0) * 1024
    } catch {
      return 0 // It has just ended.
    }
  }
  return { server: bytesOf(server.pid), children: Math.max(0, ...pids.map(bytesOf)) }
}

/** The most memory that was in use while `work` ran. */
async function peakDuring(work: () => Promise<void>) {
  const peak = { server: 0, children: 0 }
  const look = setInterval(() => {
    const now = memory()
    peak.server = Math.max(peak.server, now.server)
    peak.children = Math.max(peak.children, now.children)
  }, 10)
  await work().finally(() => clearInterval(look))
  return peak
}

test.each([
  ['AIFF', Buffer.from('FORM\0\0\x10\0AIFFCOMM', 'latin1')],
  ['text', Buffer.from('no recording')],
  ['a wav header alone', Buffer.from(speech).subarray(0, 44)],
])('%s is 415, and no recogniser is asked', async (_name, bytes) => {
  const before = upstream.heard.length
  const refused = { status: 415, body: '不支持的文件类型' }
  expect(await hear(other, bytes)).toEqual(refused)
  const body = JSON.stringify({ audio_b64: bytes.toString('base64') })
  const { headers } = other
  const said = await fetch(`${server.url}/v1/voice`, { method: 'POST', headers, body })
  expect({ status: said.status, body: await said.text() }).toEqual(refused)
  expect(upstream.heard).toHaveLength(before)
})

const HOSTILE: readonly (readonly [string, () => Uint8Array | Promise<Uint8Array>])[] = [
  ['a fragment that names four billion samples', endlessFragment],
  ['a table of four billion sizes of no bits', endlessSizes],
  ['an element whose length has no end', spinningWebm],
]

test.each(HOSTILE)(
  'a recording with %s is unreadable, and fills no memory',
  async (_, make) => {
    expect(await hear(other, speech)).toEqual(HEARD)
    const sound = await make()
    const before = memory().server
    const peak = await peakDuring(async () => {
      expect(await hear(attacker, sound)).toEqual(UNREADABLE)
    })
    expect(peak.server - before).toBeLessThan(200 * MEGABYTE)
    expect(peak.children).toBeLessThan(1024 * MEGABYTE)
    expect(await hear(attacker, speech)).toEqual(HEARD)
  },
  60_000,
)

test('many hostile recordings of one tenant do not hold up another tenant', async () => {
  const sounds = await Promise.all(HOSTILE.map(([, make]) => make()))
  const open = Array.from({ length: 8 }, (_, i) => {
    const answer = { done: false }
    const sound = sounds[i % sounds.length] as Uint8Array
    const heard = hear(attacker, sound).finally(() => (answer.done = true))
    return { answer, heard }
  })
  expect(await hear(other, speech)).toEqual(HEARD)
  expect(await hear(other, speech)).toEqual(HEARD)
  expect(open.some(({ answer }) => !answer.done)).toBe(true)
  for (const { heard } of open) expect(await heard).toEqual(UNREADABLE)
}, 120_000)
