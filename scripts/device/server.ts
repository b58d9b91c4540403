import { Refused, unreachable } from './refusal.ts'

export interface ServerOptions {
  /** Scheme, host and port. */
  readonly origin: string
  /** Additional certificate authority to trust, as PEM. */
  readonly ca?: string | undefined
  readonly say: (text: string) => void
}

export interface Paired {
  readonly device_id: string
  readonly key: string
  readonly app_id: string | null
}

export interface VoiceTurn {
  readonly asr_text: string
  readonly reply_text: string
  readonly audio_b64: string | null
}

export type Server = ReturnType<typeof createServer>

const TRIES = 3
const WAIT_S_MAX = 90

/**
 * The requests of a device. Waits and retries after 429 and 503; throws `Refused` for other
 * refusals and `Unreachable` without an answer.
 */
export function createServer({ origin, ca, say }: ServerOptions) {
  let key: string | null = null
  const tls = ca === undefined ? {} : { tls: { ca } }

  async function once(path: string, body: string): Promise<Response> {
    const headers = {
      'content-type': 'application/json',
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    }
    // Redirects are not followed, because they would carry the key to another server.
    const init = { method: 'POST', headers, body, redirect: 'manual', ...tls } as const
    const response = await fetch(origin + path, init).catch((error: unknown) => {
      throw unreachable(origin, error)
    })
    if (response.status === 200) return response
    const words = (await response.text()).slice(0, 200).trim()
    const wait = Number(response.headers.get('retry-after') ?? Number.NaN)
    const seconds = Number.isInteger(wait) && wait >= 0 ? wait : null
    throw new Refused(response.status, words, seconds, path.endsWith('/activate'))
  }

  async function post(path: string, body: unknown): Promise<Response> {
    for (let tried = 1; ; tried++) {
      try {
        return await once(path, JSON.stringify(body))
      } catch (error) {
        const busy = error instanceof Refused && [429, 503].includes(error.status) ? error : null
        if (busy === null || tried === TRIES) throw error
        const wait = Math.min(busy.retryAfterS ?? 1, WAIT_S_MAX)
        say(`The server asks to wait (${busy.status}); going on in ${wait} s.`)
        await Bun.sleep(wait * 1_000)
      }
    }
  }

  const json = async <T>(path: string, body: unknown): Promise<T> =>
    (await (await post(path, body)).json()) as T

  return {
    origin,
    useKey(next: string | null): void {
      key = next
    },
    activate: (code: string) => json<Paired>('/v1/devices/activate', { code }),
    heartbeat: (told: { firmware: string; hw_model: string }) =>
      json<{ last_seen_at: string }>('/v1/devices/heartbeat', told),
    voice: (turn: { audio_b64: string; session_id: string; voice?: string | undefined }) =>
      json<VoiceTurn>('/v1/voice', turn),
    /** PCM stream: signed 16-bit little-endian, 32 kHz, mono. */
    async speech(request: { text: string; voice?: string | undefined }) {
      const response = await post('/v1/tts/stream', request)
      const format = response.headers.get('x-audio-format')
      if (format !== 'pcm_s16le_32000_mono') throw new Error(`unknown sound: ${format}`)
      return response.body ?? new ReadableStream<Uint8Array>()
    },
  }
}
