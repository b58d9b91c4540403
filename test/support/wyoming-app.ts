import { afterAll, afterEach, beforeAll } from 'bun:test'
import { caller } from './api.ts'
import { startApp, type TestApp, type TestKey } from './app.ts'
import { tempFolder } from './temp.ts'
import { startUpstream, type Upstream } from './upstream.ts'
import type { Heard } from './upstream-wyoming.ts'
import { connectWyoming } from './wyoming-client.ts'

/** The owner of the key that Wyoming clients use. */
export const HOME = 'home@example.com'

export const typesOf = (events: readonly Heard[]) => events.map(({ type }) => type)

/** A server for the tests of one file; its Wyoming clients act with a valid key. */
export function useWyoming(more: Readonly<Record<string, string>> = {}) {
  const folder = tempFolder()
  const held: { upstream?: Upstream; app?: TestApp; key?: TestKey } = {}
  const start = (token: string) => {
    const { baseUrl = '' } = held.upstream ?? {}
    const voice = { MB_TTS_BASE_URL: baseUrl, MB_ASR_BASE_URL: baseUrl }
    const env = { ...voice, MB_WYOMING_PORT: '0', MB_WYOMING_KEY: token, ...more }
    return startApp({ upstream: baseUrl, dataDir: folder.path, env })
  }
  beforeAll(async () => {
    held.upstream = await startUpstream()
    {
      await using first = await start('sk-mb-none')
      held.key = await first.key(HOME)
    }
    held.app = await start(held.key.key)
  })
  afterEach(() => held.upstream?.reset())
  afterAll(async () => {
    await held.app?.[Symbol.asyncDispose]()
    await held.upstream?.stop()
    folder[Symbol.dispose]()
  })
  const given = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error('the server is not running yet')
    return value
  }
  const connect = () => connectWyoming(given(held.app).wyomingPort)
  return {
    /** Starts another server on the same data with this key. */
    start,
    connect,
    get app() {
      return given(held.app)
    },
    get upstream() {
      return given(held.upstream)
    },
    get key() {
      return given(held.key)
    },
    /** Runs a turn as Home Assistant does. */
    async say(text: string, context: object = {}) {
      await using client = await connect()
      client.send('transcript', { text, language: 'zh', context })
      return await client.next()
    },
    /** The request log, newest first. */
    async rows() {
      const { url, flush, person } = given(held.app)
      await flush()
      type Row = Record<'endpoint' | 'session_id' | 'error_class' | 'channel', string | null>
      const console = caller(`${url}/console`, (await person(HOME)).headers)
      const answer = await console<{ logs: (Row & { status: number })[] }>('GET', '/logs')
      return answer.json().logs
    },
  }
}

/** Bytes of the file of a form. */
export const fileSize = (form: FormData | null): number => {
  const file = form?.get('file')
  return file instanceof Blob ? file.size : 0
}
