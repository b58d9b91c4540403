import { SPEECH_RATE } from '../../src/upstream/ports/speech.ts'
import { STUB_SPEECH_SECONDS, STUB_TRANSCRIPT, sweep } from '../bench/stub-voice.ts'
import { asWav } from '../device/sound.ts'

export interface DeviceOptions {
  readonly url: string
  /** The client address of the device, by which activations are limited. */
  readonly address: string
  readonly name: string
}

export type Device = ReturnType<typeof createDevice>

const QUESTION = Buffer.from(asWav(16_000, new Uint8Array(sweep(16_000, 1).buffer)))
const QUESTION_B64 = QUESTION.toString('base64')
const SPEECH_BYTES = STUB_SPEECH_SECONDS * SPEECH_RATE * 2
const MP3_SYNC = 0xff

export const DEVICE_WORK = ['beat', 'talk', 'listen', 'leave', 'hear'] as const
export type Work = (typeof DEVICE_WORK)[number]

/** One device that checks all its answers. Each action throws an explanation of a wrong answer. */
export function createDevice({ url, address, name }: DeviceOptions) {
  let key = ''

  async function post(path: string, body: BodyInit, status = 200): Promise<Response> {
    const headers = { authorization: `Bearer ${key}`, 'x-forwarded-for': address }
    const response = await fetch(url + path, { method: 'POST', headers, body })
    if (response.status !== status) {
      throw new Error(`${name}: ${path} answered ${response.status} ${await response.text()}`)
    }
    return response
  }
  const must = (right: boolean, what: string) => {
    if (!right) throw new Error(`${name}: ${what}`)
  }

  const work: Readonly<Record<Work, () => Promise<unknown>>> = {
    beat: async () => (await post('/v1/devices/heartbeat', '{"firmware":"soak"}')).json(),
    async talk() {
      const body = JSON.stringify({ audio_b64: QUESTION_B64, session_id: name })
      const turn = (await (await post('/v1/voice', body)).json()) as Record<string, string>
      must(turn.asr_text === STUB_TRANSCRIPT, 'another transcript')
      must(Boolean(turn.reply_text), 'no reply')
      const mp3 = Uint8Array.fromBase64(turn.audio_b64 ?? '')
      must(mp3[0] === MP3_SYNC && mp3.length > 16_000 * STUB_SPEECH_SECONDS, 'no whole mp3')
    },
    async listen() {
      const response = await post('/v1/tts/stream', JSON.stringify({ text: `我是${name}。` }))
      const { length } = await response.bytes()
      must(length === SPEECH_BYTES, `${length} bytes of speech`)
    },
    /** An interruption: the device drops the rest of the speech. */
    async leave() {
      const response = await post('/v1/tts/stream', JSON.stringify({ text: '长。'.repeat(400) }))
      const reader = response.body?.getReader()
      must((await reader?.read())?.done === false, 'no first sound')
      await reader?.cancel()
    },
    async hear() {
      const { text } = (await (await post('/v1/asr', QUESTION)).json()) as { text: string }
      must(text === STUB_TRANSCRIPT, 'another transcript')
    },
  }

  return {
    work,
    async activate(code: string): Promise<void> {
      const response = await post('/v1/devices/activate', JSON.stringify({ code }))
      key = ((await response.json()) as { key: string }).key
    },
    /** A revoked key must be refused from the next request on. */
    async expectRevoked(): Promise<void> {
      await (await post('/v1/devices/heartbeat', '', 401)).text()
    },
  }
}
