import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { AUDIO_BYTES_MAX } from '../../src/core/limits/contract.ts'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'
import { flac } from '../support/flac.ts'
import { mp3Frames } from '../support/mp3-frames.ts'
import { mp3, opus, tone, vorbis, wav } from '../support/recordings.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let app: TestApp
let mute: TestApp
let key: TestKey

beforeAll(async () => {
  upstream = await startUpstream()
  const { baseUrl } = upstream
  const env = { MB_TTS_BASE_URL: baseUrl, MB_ASR_BASE_URL: baseUrl, MB_ASR_API_KEY: 'sk-asr' }
  app = await startApp({ upstream: baseUrl, env })
  mute = await startApp({ upstream: baseUrl, env: { MB_TTS_KIND: 'none' } })
  key = await app.key()
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await mute[Symbol.asyncDispose]()
  await upstream.stop()
})

const SPEECH = wav(16_000, tone(16_000, 0.5))
const AUDIO = Buffer.from(SPEECH).toString('base64')
const hear = (body: Uint8Array<ArrayBuffer> | ReadableStream) =>
  fetch(`${app.url}/v1/asr`, { method: 'POST', headers: key.headers, body })
async function talkOf(reply: string) {
  upstream.transcriptions.reply({ text: '说吧' })
  upstream.reply({ text: reply })
  const response = await talk({ audio_b64: AUDIO, session_id: fresh() })
  return (await response.json()) as Record<string, string>
}
const talk = (body: unknown, headers = key.headers) =>
  fetch(`${app.url}/v1/voice`, { method: 'POST', headers, body: JSON.stringify(body) })
let sessions = 0
const fresh = () => `voice-${++sessions}`

describe('POST /v1/asr', () => {
  test('/v1/asr answers the trimmed text', async () => {
    upstream.transcriptions.reply({ text: ' 打开客厅的灯。\n' })
    const response = await hear(new Uint8Array(SPEECH))
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({ text: '打开客厅的灯。' })
  })

  test('/v1/asr asks for Chinese with punctuation', async () => {
    await hear(new Uint8Array(SPEECH))
    const { form, headers } = upstream.requests.at(-1) ?? {}
    expect(headers?.authorization).toBe('Bearer sk-asr')
    expect(form?.get('language')).toBe('zh')
    expect(form?.get('model')).toBe('whisper-1')
    expect(String(form?.get('prompt'))).toMatch(/标点.*。$/)
  })

  test.each([
    ['audio.wav', () => SPEECH],
    ['audio.mp3', () => mp3(16_000, tone(16_000, 0.3))],
    ['audio.flac', () => flac(tone(48_000, 0.3))],
    ['audio.ogg', () => opus('ogg', tone(48_000, 0.3))],
    ['audio.ogg', () => vorbis(16_000, tone(16_000, 0.3))],
    ['audio.webm', () => opus('webm', tone(48_000, 0.3))],
  ])('/v1/asr passes the recording on unchanged as %s', async (name, make) => {
    const bytes = new Uint8Array(await make())
    expect((await hear(bytes)).status).toBe(200)
    const file = upstream.requests.at(-1)?.form?.get('file') as File
    expect(file.name).toBe(name)
    expect(new Uint8Array(await file.arrayBuffer())).toEqual(bytes)
  })

  test('/v1/asr refuses an empty recording with 400', async () => {
    const response = await hear(new Uint8Array(0))
    expect([response.status, await response.text()]).toEqual([400, '音频不能为空'])
  })

  test('/v1/asr takes 25 MB and refuses one byte more with 413', async () => {
    expect((await hear(new Uint8Array(AUDIO_BYTES_MAX))).status).toBe(200)
    expect((await hear(new Uint8Array(AUDIO_BYTES_MAX + 1))).status).toBe(413)
  }, 60_000)

  test('/v1/asr measures a body without an announced length as it arrives', async () => {
    let left = 27
    const endless = new ReadableStream({
      pull(controller) {
        if (left-- > 0) controller.enqueue(new Uint8Array(1024 * 1024))
        else controller.close()
      },
    })
    expect((await hear(endless)).status).toBe(413)
  }, 60_000)

  test.each([400, 413, 429, 500, 'reset', 'html'] as const)(
    '/v1/asr is 502 when the upstream fails with %s',
    async (fault) => {
      upstream.transcriptions.alwaysFault(fault)
      const response = await hear(new Uint8Array(SPEECH))
      expect([response.status, await response.text()]).toEqual([
        502,
        '语音识别暂不可用，请稍后重试',
      ])
    },
    60_000,
  )

  test('/v1/asr is 502 without a configured recogniser', async () => {
    const { headers } = await mute.key()
    const init = { method: 'POST', headers, body: new Uint8Array(SPEECH) }
    expect((await fetch(`${mute.url}/v1/asr`, init)).status).toBe(502)
  })

  test('/v1/asr does not pass on the text that a recogniser invents for silence', async () => {
    const silence = new Uint8Array(wav(16_000, new Float32Array(16_000)))
    upstream.transcriptions.reply({ text: '请不吝点赞 订阅 转发 打赏支持明镜与点点栏目' })
    expect(await (await hear(silence)).json()).toEqual({ text: '' })
    upstream.transcriptions.reply({ text: '请不吝点赞' })
    expect(await (await hear(new Uint8Array(SPEECH))).json()).toEqual({ text: '请不吝点赞' })
  })

  test('a client that leaves /v1/asr ends the call upstream', async () => {
    const left = upstream.aborts()
    upstream.transcriptions.fault('silent')
    const gone = new AbortController()
    const init = { method: 'POST', headers: key.headers, body: new Uint8Array(SPEECH) }
    const answer = fetch(`${app.url}/v1/asr`, { ...init, signal: gone.signal }).catch(() => null)
    const count = upstream.requests.length
    while (upstream.requests.length === count) await upstream.nextRequest()
    gone.abort()
    await upstream.aborted(left + 1)
    expect(await answer).toBeNull()
  })
})

describe('POST /v1/voice', () => {
  test('/v1/voice recognises, asks the agent and speaks', async () => {
    upstream.transcriptions.reply({ text: ' 现在几点？ ' })
    upstream.reply({ text: '**三点**了。😀' })
    const response = await talk({ audio_b64: AUDIO, session_id: fresh() })
    expect(response.status).toBe(200)
    const { audio_b64, ...rest } = (await response.json()) as Record<string, string>
    expect(rest).toEqual({
      asr_text: '现在几点？',
      reply_text: '**三点**了。😀',
      audio_format: 'mp3',
    })
    const frames = mp3Frames(Buffer.from(audio_b64 ?? '', 'base64'))
    expect(frames[0]).toMatchObject({ rate: 32_000, kbps: 128 })
    expect(upstream.requests.at(-1)?.body.input).toBe('三点了。')
  })

  test('/v1/voice answers a speech of forty seconds whole', async () => {
    upstream.speech.reply({ ms: 40_000 })
    const { audio_b64, ...rest } = await talkOf('长长的回答')
    expect(rest).toEqual({ asr_text: '说吧', reply_text: '长长的回答', audio_format: 'mp3' })
    const frames = mp3Frames(Buffer.from(audio_b64 ?? '', 'base64'))
    expect((frames.length * 1152) / 32_000).toBeWithin(40, 41)
  })

  test('/v1/voice speaks the start of a very long reply only', async () => {
    const { reply_text } = await talkOf(`开头。\n\`\`\`\n${'x\n'.repeat(30_000)}\`\`\`\n结尾。`)
    expect(reply_text).toEndWith('结尾。')
    expect(upstream.requests.at(-1)?.body.input).toBe('开头。\n代码请看文字回复。')
  })

  test('/v1/voice remembers the turn in its session, as the agent does', async () => {
    const session_id = fresh()
    upstream.transcriptions.reply({ text: '我叫小明' })
    upstream.reply({ text: '你好小明' })
    await talk({ audio_b64: AUDIO, session_id })
    const history = await fetch(`${app.url}/v1/sessions/${session_id}/history`, key)
    expect(await history.json()).toMatchObject({
      messages: [
        { role: 'user', content: '我叫小明' },
        { role: 'assistant', content: '你好小明' },
      ],
    })
  })

  test('/v1/voice accepts white space in the base64', async () => {
    const audio_b64 = `\n ${AUDIO.replace(/.{76}/g, '$&\r\n')}\n`
    expect((await talk({ audio_b64, session_id: fresh() })).status).toBe(200)
  })

  test.each([
    ['no audio', {}],
    ['a number', { audio_b64: 5 }],
    ['null', { audio_b64: null }],
    ['an empty string', { audio_b64: '' }],
    ['white space', { audio_b64: ' \n' }],
    ['no base64', { audio_b64: 'not base64!' }],
    ['the URL alphabet', { audio_b64: '-_-_' }],
    ['missing padding', { audio_b64: 'QUI' }],
    ['an array as body', []],
    ['a wrong kb', { audio_b64: 'QUJD', kb: 'yes' }],
    ['a wrong voice', { audio_b64: 'QUJD', voice: 3 }],
    ['a long session id', { audio_b64: 'QUJD', session_id: 's'.repeat(201) }],
  ])('/v1/voice refuses %s with 400', async (_name, body) => {
    const before = upstream.requests.length
    const response = await talk(body)
    expect(response.status).toBe(400)
    expect(response.headers.get('content-type')).toStartWith('text/plain')
    expect(upstream.requests.length).toBe(before)
  })

  test('/v1/voice takes 25 MB decoded and refuses one byte more with 413', async () => {
    const most = Buffer.alloc(AUDIO_BYTES_MAX).toString('base64')
    expect((await talk({ audio_b64: most, session_id: fresh() })).status).toBe(200)
    const more = Buffer.alloc(AUDIO_BYTES_MAX + 1).toString('base64')
    expect((await talk({ audio_b64: more })).status).toBe(413)
  }, 60_000)

  test.each([500, 400, 'reset'] as const)(
    '/v1/voice asks to repeat when recognition fails with %s',
    async (fault) => {
      upstream.transcriptions.alwaysFault(fault)
      const response = await talk({ audio_b64: AUDIO })
      expect([response.status, await response.text()]).toEqual([502, '没有听清，请再说一遍'])
    },
    60_000,
  )

  test('/v1/voice asks to repeat when nothing is recognised, and starts no turn', async () => {
    upstream.transcriptions.reply({ text: ' \n' })
    const response = await talk({ audio_b64: AUDIO })
    expect([response.status, await response.text()]).toEqual([502, '没有听清，请再说一遍'])
    expect(upstream.requests.at(-1)?.path).toBe('/audio/transcriptions')
  })

  test('/v1/voice is 502 with the sentence of the agent when the agent fails', async () => {
    upstream.chat.alwaysFault(400)
    const init = { method: 'POST', headers: key.headers, body: '{"text":"x"}' }
    const stream = await (await fetch(`${app.url}/v1/agent`, init)).text()
    const message = /"message":"([^"]+)"/.exec(stream)?.[1]
    expect(message).toBeString()
    const response = await talk({ audio_b64: AUDIO, session_id: fresh() })
    expect([response.status, await response.text()]).toEqual([502, String(message)])
  }, 60_000)

  test.each([500, 400, 'reset', 'html'] as const)(
    '/v1/voice answers the text when synthesis fails with %s',
    async (fault) => {
      upstream.speech.alwaysFault(fault)
      upstream.reply({ text: '好的。' })
      const response = await talk({ audio_b64: AUDIO, session_id: fresh() })
      expect(response.status).toBe(200)
      expect(await response.json()).toMatchObject({
        reply_text: '好的。',
        audio_b64: null,
        audio_format: 'mp3',
      })
    },
    60_000,
  )

  test('/v1/voice has no audio for a reply without a word to speak', async () => {
    upstream.reply({ text: '😀' })
    const response = await talk({ audio_b64: AUDIO, session_id: fresh() })
    expect(await response.json()).toMatchObject({ reply_text: '😀', audio_b64: null })
  })

  test('the stages of /v1/voice are logged under fixed labels', async () => {
    const other = await app.key('stages@example.com', { appId: 'app-9' })
    const session_id = fresh()
    upstream.transcriptions.reply({ text: '你好吗' })
    upstream.reply({ text: '很好' })
    await talk({ audio_b64: AUDIO, session_id }, other.headers)
    upstream.transcriptions.fault(400)
    await talk({ audio_b64: AUDIO, session_id }, other.headers)
    await app.flush()
    const rows = await app.db.all({
      sql: `SELECT endpoint, status, app_id, session_id, text_chars, error_class, channel
        FROM request_log WHERE tenant_id = ? ORDER BY id`,
      args: [other.tenantId],
    })
    const row = { status: 200, app_id: 'app-9', session_id: null, error_class: null, channel: null }
    expect(rows).toEqual([
      { ...row, endpoint: '/v1/asr', text_chars: 3 },
      { ...row, endpoint: '/v1/agent', text_chars: 3, session_id, channel: 'platform' },
      { ...row, endpoint: '/v1/tts', text_chars: 2 },
      { ...row, endpoint: '/v1/asr', status: 502, text_chars: null, error_class: 'upstream' },
    ])
  })

  test('/v1/voice needs a key', async () => {
    const init = { method: 'POST', body: JSON.stringify({ audio_b64: AUDIO }) }
    expect((await fetch(`${app.url}/v1/voice`, init)).status).toBe(401)
  })
})
