import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openSocket } from '../../scripts/device/board.ts'
import { ask, startingBoard } from '../support/board.ts'
import { deviceClient } from '../support/devices.ts'
import { createKey } from '../support/key.ts'
import { type Server, startServer } from '../support/server.ts'
import { tempFolder } from '../support/temp.ts'
import { sileroVad } from '../support/tone-models.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { hasSherpa, makeVoicePack, sayWhenNoSherpa } from '../support/voice-pack.ts'

sayWhenNoSherpa()

const folder = tempFolder()
let upstream: Upstream
let owner: Awaited<ReturnType<typeof createKey>>

beforeAll(async () => {
  upstream = await startUpstream()
  // Voices are told by a model, and with its library words are, too.
  if (hasSherpa) makeVoicePack(folder.path, { vad: true })
  const vad = join(folder.path, 'packs', 'voice', 'models', 'vad')
  mkdirSync(vad, { recursive: true })
  writeFileSync(join(vad, 'silero_vad.onnx'), sileroVad())
  owner = await createKey(folder.path)
})
afterAll(async () => {
  await upstream.stop()
  folder[Symbol.dispose]()
})

const start = (port = '0', more: Record<string, string> = {}) => {
  const { baseUrl } = upstream
  const models = { MB_LLM_BASE_URL: baseUrl, MB_LLM_MODEL: 'fake', MB_TTS_BASE_URL: baseUrl }
  return startServer({ dataDir: folder.path, env: { MB_PORT: port, ...models, ...more } })
}

async function register(server: Server) {
  const { id, code } = await deviceClient(server, owner).register()
  return { id, code, board: startingBoard(server) }
}

async function contents({ url }: Server, id: string): Promise<string[]> {
  const path = `${url}/v1/sessions/dev-${id}/history`
  const { messages } = (await (await fetch(path, { headers: owner.headers })).json()) as {
    messages: { content: string }[]
  }
  return messages.map(({ content }) => content)
}

test('a board goes on with its memory after the server was killed in its speech', async () => {
  let server = await start()
  const { id, code, board } = await register(server)
  const first = await board.start(code)
  let socket = await openSocket(first.websocket)
  upstream.reply({ text: '你好。' })
  ask(socket, '早')
  await socket.next('tts', 'stop')
  upstream.reply({ text: '很长的故事。还有。' })
  upstream.speech.reply({ ms: 60_000 })
  ask(socket, '讲个故事')
  await socket.next('tts', 'sentence_start')
  await server.kill()
  expect((await socket.closed).code).toBe(1006)

  server = await start(new URL(server.url).port)
  await using _ = server
  const again = await board.start(code)
  expect(again.websocket).toEqual(first.websocket)
  socket = await openSocket(again.websocket)
  upstream.reset()
  upstream.reply({ text: '继续。' })
  ask(socket, '还在吗')
  await socket.next('tts', 'stop')
  expect(socket.sound.length).toBeGreaterThan(0)
  const kept = await contents(server, id)
  expect(kept.slice(0, 2)).toEqual(['早', '你好。'])
  expect(kept.slice(-2)).toEqual(['还在吗', '继续。'])
}, 60_000)

/** Processes that a process has started, with their arguments. */
function childrenOf(pid: number): { readonly pid: number; readonly args: string }[] {
  const ids = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
  return ids.flatMap((id) => {
    try {
      const args = readFileSync(`/proc/${id}/cmdline`, 'utf8').replaceAll('\0', ' ')
      return [{ pid: Number(id), args }]
    } catch {
      return []
    }
  })
}

/** A room, a second of 400 Hz, which a recogniser of tones hears as 低, and a short pause. */
const low = Int16Array.from({ length: 28_000 }, (_, i) => {
  const level = i < 8_000 ? 300 : i < 24_000 ? 10_000 : 0
  return level * Math.sin((i * 2 * Math.PI * 400) / 16_000)
})

test('killed child processes cost a board no later turn', async () => {
  const asr = hasSherpa ? { MB_ASR_KIND: 'local' } : { MB_ASR_BASE_URL: upstream.baseUrl }
  await using server = await start('0', asr)
  const { code, board } = await register(server)
  const { websocket } = await board.start(code)
  const socket = await openSocket(websocket)
  const turn = async () => {
    upstream.transcriptions.reply({ text: '低' })
    upstream.reply({ text: '好的。' })
    socket.send({ type: 'listen', state: 'start', mode: 'auto' })
    await socket.speak(low, Bun.sleep)
    // The board falls silent, as one with DTX does.
    await socket.next('tts', 'stop')
    return socket.heard.findLast(({ type }) => type === 'stt')?.text
  }
  expect(await turn()).toMatch(/^低+$/)
  const before = childrenOf(server.pid)
  expect(before.some(({ args }) => args.includes('vad-worker'))).toBe(true)
  expect(before.some(({ args }) => args.includes('asr-worker'))).toBe(hasSherpa)

  upstream.speech.reply({ ms: 2_000 })
  ask(socket, '讲个故事')
  await socket.next('tts', 'sentence_start')
  for (const { pid } of childrenOf(server.pid)) process.kill(pid, 'SIGKILL')
  await socket.next('tts', 'stop')
  expect(await turn()).toMatch(/^低+$/)
  const after = childrenOf(server.pid)
  expect(after.some(({ args }) => args.includes('vad-worker'))).toBe(true)
  await socket.close()
}, 60_000)
