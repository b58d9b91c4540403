import { createKey } from '../../test/support/key.ts'
import { startServer } from '../../test/support/server.ts'
import { tempFolder } from '../../test/support/temp.ts'
import { asWav } from '../device/sound.ts'
import { measureCodecs } from './codecs.ts'
import { openConnection, requestBytes } from './connection.ts'
import type { Product, Upstream } from './programs.ts'
import type { Row } from './report.ts'
import { alternate } from './rounds.ts'
import { median } from './stats.ts'
import { sweep } from './stub-voice.ts'

const STREAMS = 60
const TURNS = 20
const SPOKEN = 12
const TEXT = '好的，客厅的灯已经打开。'
const ENGLISH = 'The light in the kitchen is on.'
const QUESTION = asWav(16_000, new Uint8Array(sweep(16_000, 2).buffer))

/** How soon a device hears something, and how fast sound is coded. */
export async function benchVoice(upstream: Upstream, _: Product, rounds: number): Promise<Row[]> {
  return [
    ...(await measureUpstream(upstream, rounds)),
    ...(await measureEspeak(rounds)),
    ...(await measureCodecs(rounds)),
  ]
}

async function startVoice(env: Readonly<Record<string, string>>) {
  const folder = tempFolder()
  const { headers } = await createKey(folder.path, { env })
  const server = await startServer({ dataDir: folder.path, env })
  return {
    url: server.url,
    headers,
    async [Symbol.asyncDispose]() {
      await server.stop()
      folder[Symbol.dispose]()
    },
  }
}

interface Target {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

/** Median of the milliseconds from a request to the first byte of its sound. */
async function firstSound({ url, headers, body }: Target, count: number): Promise<number> {
  const connection = await openConnection(url)
  const request = requestBytes({ method: 'POST', url, headers, body: JSON.stringify(body) })
  const times: number[] = []
  for (let left = count; left > 0; left--) {
    const sent = performance.now()
    let first = Number.NaN
    const status = await connection.send(request, () => {
      if (Number.isNaN(first)) first = performance.now() - sent
    })
    if (status !== 200) throw new Error(`${url} answered ${status}`)
    times.push(first)
  }
  connection.close()
  return median(times)
}

/** Median of the milliseconds that a piece of work takes. */
async function timed(work: () => Promise<unknown>, count: number): Promise<number> {
  const times: number[] = []
  for (let left = count; left > 0; left--) {
    const begin = performance.now()
    await work()
    times.push(performance.now() - begin)
  }
  return median(times)
}

async function read(url: string, headers: Target['headers'], body: BodyInit): Promise<void> {
  const answer = await fetch(url, { method: 'POST', headers, body })
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`)
  await answer.bytes()
}

/** What a voice loop asks of its upstreams, and nothing else. */
async function threeCalls(base: string): Promise<void> {
  const form = new FormData()
  form.append('file', new File([new Uint8Array(QUESTION)], 'audio.wav'))
  form.append('model', 'whisper-1')
  await read(`${base}/audio/transcriptions`, {}, form)
  const turn = { model: 'fake', stream: true, messages: [] }
  await read(`${base}/chat/completions`, {}, JSON.stringify(turn))
  await read(`${base}/audio/speech`, {}, JSON.stringify({ input: TEXT }))
}

async function measureUpstream(upstream: Upstream, rounds: number): Promise<Row[]> {
  const base = `${upstream.url}/v1`
  await upstream.plan({ tokens: 10, delayMs: 0 })
  await using product = await startVoice({
    MB_LLM_BASE_URL: base,
    MB_LLM_MODEL: 'fake',
    MB_TTS_BASE_URL: base,
    MB_ASR_BASE_URL: base,
  })
  const { headers } = product
  const speech = { url: `${base}/audio/speech`, headers: {}, body: { input: TEXT } }
  const stream = { url: `${product.url}/v1/tts/stream`, headers, body: { text: TEXT } }
  const turn = JSON.stringify({ audio_b64: QUESTION.toBase64(), session_id: 'bench' })
  const talk = () => read(`${product.url}/v1/voice`, headers, turn)
  await firstSound(stream, STREAMS)
  await timed(talk, TURNS)
  const results = await alternate(rounds, {
    speech: () => firstSound(speech, STREAMS),
    stream: () => firstSound(stream, STREAMS),
    calls: () => timed(() => threeCalls(base), TURNS),
    voice: () => timed(talk, TURNS),
  })
  return [
    {
      measure: 'first sound of /v1/tts/stream',
      unit: 'ms',
      product: results.stream,
      reference: { name: 'upstream direct', values: results.speech },
      target: null,
    },
    {
      measure: 'sound of /v1/voice, 2 s in and 2 s out',
      unit: 'ms',
      product: results.voice,
      reference: { name: 'its three calls', values: results.calls },
      target: null,
    },
  ]
}

async function programsFirstSound(): Promise<void> {
  const child = Bun.spawn(['espeak-ng', '--stdin', '--stdout', '-v', 'en-us'], {
    stdin: new Blob([ENGLISH]),
    stdout: 'pipe',
    stderr: 'ignore',
  })
  const reader = child.stdout.getReader()
  await reader.read()
  child.kill()
  await child.exited
}

/** Speech without any model, by a program of the machine; nothing where it is not installed. */
async function measureEspeak(rounds: number): Promise<Row[]> {
  if (Bun.which('espeak-ng') === null) return []
  await using product = await startVoice({ MB_TTS_KIND: 'espeak' })
  const { headers } = product
  const stream = { url: `${product.url}/v1/tts/stream`, headers, body: { text: ENGLISH } }
  await firstSound(stream, SPOKEN)
  const results = await alternate(rounds, {
    program: () => timed(programsFirstSound, SPOKEN),
    stream: () => firstSound(stream, SPOKEN),
  })
  return [
    {
      measure: 'first sound of /v1/tts/stream, espeak-ng',
      unit: 'ms',
      product: results.stream,
      reference: { name: 'the program alone', values: results.program },
      target: null,
    },
  ]
}
