import { streamedWavHeader } from '../audio/wav.ts'
import { probe } from '../channels/openai/probe.ts'
import { createReranker } from '../channels/openai/reranker.ts'
import { ChannelFailure } from '../channels/ports/failure.ts'
import { DEFAULT_VOICE } from '../channels/ports/speech.ts'
import type { SystemPart } from '../features/system/settings.ts'
import type { Try } from '../features/system/trial.ts'
import { createWebSearch } from '../tools/web-search.ts'
import type { Adapters } from './adapters.ts'

const TRY_MS = 25_000
/** Whose turn it is where tenants take turns; no tenant has this id. */
const OPERATOR = 'operator'
const RATE = 16_000

/** How each part of the server is tried: by one small piece of its real work. */
export function systemTries(adapters: Adapters): Readonly<Record<SystemPart, Try>> {
  const { clock, embeddingNow, fetch, live, mailerNow, platform, speech } = adapters
  return {
    async llm(signal) {
      const { endpoint, description, packed } = platform.get()
      if (endpoint === null) return null
      const model = live.config().MB_LLM_MODEL ?? null
      const channel = { ...endpoint, fetch: packed?.fetch ?? fetch }
      const result = await probe({ ...channel, clock, model, timeoutMs: TRY_MS }, signal)
      if (!result.ok) throw new ChannelFailure('channel_unavailable', result.error)
      return description
    },
    async embedding(signal) {
      const { embedder, description } = embeddingNow()
      const [vector] = await embedder.embed(['moon'], 'query', signal)
      return `${description}, ${vector?.length ?? 0} dimensions`
    },
    async rerank(signal) {
      const { MB_RERANK_BASE_URL: baseUrl, MB_RERANK_API_KEY: apiKey = '' } = live.config()
      if (baseUrl === undefined) return null
      const model = live.config().MB_RERANK_MODEL ?? null
      const reranker = createReranker({ fetch, clock, baseUrl, apiKey, model, timeoutMs: TRY_MS })
      await reranker.rank('moon', ['moon', 'sun'], signal)
      return new URL(baseUrl).host
    },
    async tts(signal) {
      const tts = speech.tts()
      if (tts === null) return null
      const request = { text: '你好', voice: DEFAULT_VOICE, tenantId: OPERATOR }
      const { rate, chunks } = await tts.speak(request, signal)
      let bytes = 0
      for await (const chunk of chunks) bytes += chunk.length
      if (bytes === 0) throw new ChannelFailure('provider_error', 'empty audio')
      return `${tts.name}, ${(bytes / 2 / rate).toFixed(1)} s`
    },
    async asr(signal) {
      const { asr } = speech.hearing()
      if (asr === null) return null
      // A second of silence; that nothing is heard in it is right.
      const bytes = Buffer.concat([streamedWavHeader(RATE), new Uint8Array(2 * RATE)])
      await asr.transcribe({ bytes, tenantId: OPERATOR }, signal)
      return asr.name
    },
    async search(signal) {
      const { MB_SEARCH_URL: root } = live.config()
      if (root === undefined) return null
      const tool = createWebSearch({ fetch, clock, root })
      await tool.run({ query: 'moon' }, { signal, tenantId: OPERATOR })
      return new URL(root).host
    },
    async mail(signal, email) {
      const mailer = mailerNow()
      if (mailer === null) return null
      await mailer.send({ to: email, subject: SUBJECT, text: LETTER }, signal)
      return email
    },
  }
}

const SUBJECT = 'Moonbase 测试邮件 / test mail'
const LETTER = `这封邮件说明 Moonbase 可以发信。

This mail shows that Moonbase can send mail.
`
