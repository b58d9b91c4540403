import { api } from '../../api/index.ts'
import { streamTurn } from '../../api/stream.ts'
import type { I18n } from '../../i18n/index.tsx'
import { type Facts, hasPlatformModel } from './steps.ts'

const SESSION = 'console-check'
const CHECK_MS = 30_000

/** The result of a check, as a sentence. */
export interface Found {
  readonly tone: 'good' | 'warn' | 'bad'
  readonly text: string
}

/** Asks the model a one-word question, in a session that is deleted afterwards. */
export async function checkModel({ t, words }: I18n, { status }: Facts): Promise<Found> {
  const started = performance.now()
  const request = { text: t('home.check.question'), session_id: SESSION, images: [], kb: false }
  let found: Found = { tone: 'bad', text: t('studio.cut') }
  let trouble: string | null = null
  const signal = AbortSignal.timeout(CHECK_MS)
  for await (const events of streamTurn({ ...request, app_id: null }, signal)) {
    for (const event of events) {
      if (event.type === 'provider_fallback') {
        trouble = `${t('fallback.title')} ${t(`fallback.${event.reason}`)}`
      }
      if (event.type === 'stats' && event.channel === 'platform' && !hasPlatformModel(status)) {
        trouble = t('home.check.builtin')
      }
      if (event.type === 'error') {
        const { message, code } = event
        found = { tone: 'bad', text: words(message, { code, params: {} }) ?? message }
      }
      if (event.type !== 'llm_end') continue
      const ms = Math.round(performance.now() - started)
      found = trouble
        ? { tone: 'warn', text: trouble }
        : { tone: 'good', text: t('home.check.model', { ms }) }
    }
  }
  await api.sessions.remove(SESSION)
  return found
}

/** Searches for the newest document by its title. */
export async function checkDocument({ t }: I18n, { docs }: Facts): Promise<Found> {
  const title = docs?.[0]?.title ?? ''
  const { results } = await api.kb.search(title)
  const best = results[0]
  if (!best) return { tone: 'bad', text: t('kb.search.none') }
  const found = { title: best.title, score: best.score.toFixed(2) }
  return { tone: 'good', text: t('home.check.found', found) }
}

/** Checks when devices were last seen. */
export async function checkDevices({ t }: I18n): Promise<Found> {
  const { devices } = await api.devices.list()
  const seen = devices.filter(({ last_seen_at }) => last_seen_at !== null).length
  const text = t('home.check.devices', { seen, all: devices.length })
  return { tone: seen > 0 ? 'good' : 'warn', text }
}
