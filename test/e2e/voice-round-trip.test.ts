import { describe, expect, test } from 'bun:test'
import { startApp } from '../support/app.ts'
import { RECOGNISER, recognise, startRecogniser } from '../support/pocketsphinx.ts'
import { wav } from '../support/recordings.ts'
import { startUpstream } from '../support/upstream.ts'
import { frame, startWyoming } from '../support/upstream-wyoming.ts'

const PHRASES = [
  'turn on the kitchen light',
  'what is the weather like today',
  'play some music',
  'set a timer for five minutes',
  'good morning my friend',
  'close the window please',
  'tell me a story about the moon',
  'where is the railway station',
]
const missing = [
  ...(RECOGNISER ? [] : ['pocketsphinx']),
  ...(Bun.which('espeak-ng') ? [] : ['espeak-ng']),
]
if (missing.length > 0) process.stderr.write(`skipped: ${missing.join(', ')} not installed\n`)

/** The sound of a PCM stream as a file. */
function asWav(pcm: ArrayBuffer): Uint8Array<ArrayBuffer> {
  return new Uint8Array(
    wav(
      32_000,
      Float32Array.from(new Int16Array(pcm), (v) => v / 32_768),
    ),
  )
}

describe.skipIf(missing.length > 0)(
  'what is spoken is understood (skipped without programs)',
  () => {
    test('speech as mp3 and as PCM is understood by a recogniser behind HTTP', async () => {
      await using recogniser = startRecogniser(PHRASES)
      const env = { MB_TTS_KIND: 'espeak', MB_ASR_BASE_URL: recogniser.baseUrl }
      await using app = await startApp({ env })
      const { headers } = await app.key()
      const post = (path: string, body: BodyInit) =>
        fetch(`${app.url}${path}`, { method: 'POST', headers, body })
      const spoken: string[] = []
      for (const [index, text] of PHRASES.entries()) {
        const body = JSON.stringify({ text })
        const mp3 = index % 2 === 0
        const sound = await (await post(mp3 ? '/v1/tts' : '/v1/tts/stream', body)).arrayBuffer()
        const answer = await post('/v1/asr', mp3 ? new Uint8Array(sound) : asWav(sound))
        spoken.push(((await answer.json()) as { text: string }).text)
      }
      expect(spoken).toEqual(PHRASES)
    }, 60_000)

    test('the voice loop understands speech, and its reply is understood in turn', async () => {
      const [question = '', answer = ''] = PHRASES
      await using recogniser = startRecogniser(PHRASES)
      const model = await startUpstream()
      model.reply({ text: `**${answer}**` })
      const env = { MB_TTS_KIND: 'espeak', MB_ASR_BASE_URL: recogniser.baseUrl }
      await using app = await startApp({ upstream: model.baseUrl, env })
      const { headers } = await app.key()
      const say = {
        method: 'POST',
        headers,
        body: JSON.stringify({ text: question }),
      }
      const sound = await (await fetch(`${app.url}/v1/tts`, say)).bytes()
      const body = JSON.stringify({ audio_b64: sound.toBase64() })
      const response = await fetch(`${app.url}/v1/voice`, { method: 'POST', headers, body })
      const turn = (await response.json()) as Record<string, string>
      expect(turn).toMatchObject({ asr_text: question, reply_text: `**${answer}**` })
      const reply = Uint8Array.fromBase64(turn.audio_b64 ?? '')
      expect(await recognise(reply, PHRASES)).toBe(answer)
      await model.stop()
    }, 60_000)

    test('speech is understood by a recogniser that speaks Wyoming', async () => {
      const [phrase = ''] = PHRASES
      await using recogniser = await startWyoming(async ({ type }, socket, heard) => {
        if (type !== 'audio-stop') return
        const pcm = Buffer.concat(heard.map(({ payload }) => payload))
        const samples = new Int16Array(new Uint8Array(pcm).buffer)
        const sound = wav(
          16_000,
          Float32Array.from(samples, (value) => value / 32_768),
        )
        socket.write(frame('transcript', { text: await recognise(sound, PHRASES) }))
      })
      const env = { MB_TTS_KIND: 'espeak', MB_ASR_BASE_URL: recogniser.baseUrl }
      await using app = await startApp({ env })
      const { headers } = await app.key()
      const say = { method: 'POST', headers, body: JSON.stringify({ text: phrase }) }
      const body = await (await fetch(`${app.url}/v1/tts`, say)).bytes()
      const response = await fetch(`${app.url}/v1/asr`, { method: 'POST', headers, body })
      expect(await response.json()).toEqual({ text: phrase })
    }, 60_000)
  },
)
