import { greetedBoard, voice } from '../../test/support/board.ts'
import { deviceClient } from '../../test/support/devices.ts'
import { startUpstream } from '../bench/programs.ts'
import type { BoardSocket } from '../device/board.ts'
import { openSocket } from '../device/board.ts'
import type { Scenario } from './scenario.ts'
import { createTally } from './tally.ts'

const BOARDS = 20
const TURN_MS_MAX = 60_000
/** Turns after which a board disconnects and connects again, as if it was switched off. */
const SOCKET_TURNS = 15
/** Pause between two turns. */
const PAUSE_MS = 500

/** Twenty xiaozhi boards with spoken and typed questions, interruptions and new connections. */
export async function boards(): Promise<Scenario> {
  const upstream = await startUpstream()
  await upstream.plan({ tokens: 10, delayMs: 5 })
  const base = `${upstream.url}/v1`
  return {
    env: {
      ...{ MB_LLM_BASE_URL: base, MB_LLM_MODEL: 'fake', MB_TRUST_PROXY: '1' },
      ...{ MB_TTS_BASE_URL: base, MB_ASR_BASE_URL: base },
    },
    residentMibMax: 320,
    async start([server], headers) {
      const url = server?.url ?? ''
      const devices = deviceClient(
        { url },
        { key: '', headers: { ...headers, authorization: headers.authorization ?? '' } },
      )
      const tally = createTally()
      const sound = voice(1.5, 1)
      let stopped = false
      const lives = Array.from({ length: BOARDS }, async (_, at) => {
        const options = { version: 1 + (at % 3), frameMs: at % 2 ? 20 : 60 }
        const board = await greetedBoard({ url }, devices, options)
        let socket = board.socket
        for (let turn = at; !stopped; turn++) {
          const name = TURNS[turn % TURNS.length] ?? 'spoken'
          await tally.time(name, () => within(TURN_MS_MAX, name, play[name](socket, sound)))
          if (turn % SOCKET_TURNS === SOCKET_TURNS - 1) {
            await socket.close()
            socket = await openSocket((await board.board.start(board.code)).websocket, options)
            await within(TURN_MS_MAX, 'hello', socket.next('hello'))
          }
          socket.forget()
          await Bun.sleep(PAUSE_MS)
        }
        await socket.close()
      })
      return {
        progress: tally.text,
        async stop() {
          stopped = true
          await Promise.all(lives)
          return tally.faults
        },
      }
    },
    close: upstream[Symbol.asyncDispose],
  }
}

const TURNS = ['spoken', 'typed', 'held', 'aborted'] as const
type Turn = (typeof TURNS)[number]

const play: Readonly<Record<Turn, (socket: BoardSocket, sound: Int16Array) => Promise<void>>> = {
  async spoken(socket, sound) {
    socket.send({ type: 'listen', state: 'start', mode: 'auto' })
    await socket.speak(sound, Bun.sleep)
    await answered(socket)
  },
  async typed(socket) {
    socket.send({ type: 'listen', state: 'detect', text: '你好' })
    await answered(socket)
  },
  async held(socket, sound) {
    socket.send({ type: 'listen', state: 'start', mode: 'manual' })
    await socket.speak(sound, Bun.sleep)
    socket.send({ type: 'listen', state: 'stop' })
    await answered(socket)
  },
  async aborted(socket) {
    socket.send({ type: 'listen', state: 'detect', text: '讲个故事' })
    await socket.next('tts', 'start')
    socket.send({ type: 'abort' })
    await socket.next('tts', 'stop')
  },
}

/** Waits for a complete turn: transcript, start of speech, sound, and end of speech. */
async function answered(socket: BoardSocket): Promise<void> {
  await socket.next('tts', 'stop')
  if (!socket.heard.some(({ type }) => type === 'stt')) {
    throw new Error(`not understood: ${socket.heard.map(({ text }) => text).filter(Boolean)}`)
  }
  if (socket.sound.length === 0) throw new Error('an answer without sound')
}

async function within<T>(ms: number, name: string, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`${name}: no end after ${ms} ms`)), ms)
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
