import { api } from '../../api/index.ts'
import { libraryApi } from '../../api/library.ts'
import type { Key } from '../../i18n/dictionary.ts'
import type { I18n } from '../../i18n/index.tsx'

/** The result of a check, as a sentence. */
export interface Found {
  readonly tone: 'good' | 'warn' | 'bad'
  readonly text: string
}

/** Why the tenant's own channel did not answer. */
const FALLBACKS: Readonly<Record<string, Key>> = {
  channel_unavailable: 'fallback.channel_unavailable',
  provider_error: 'fallback.provider_error',
  retry_exhausted: 'fallback.retry_exhausted',
  upstream_4xx: 'fallback.upstream_4xx',
  upstream_5xx: 'fallback.upstream_5xx',
}

/** Runs a tiny turn that is not stored. Good only when the configured model answered. */
export async function checkModel({ t }: I18n): Promise<Found> {
  const { ok, channel, model, first_ms, reason } = await api.checkAgent()
  if (ok) {
    return { tone: 'good', text: t('home.check.model', { model: model ?? '', ms: first_ms ?? 0 }) }
  }
  if (reason === 'offline_responder') return { tone: 'warn', text: t('home.check.builtin') }
  // A failed turn has an error code, a takeover has the failure's reason; they differ by the
  // prefix.
  const key = FALLBACKS[(reason ?? '').replace(/^model_/, '')]
  const why = key ? t(key) : `(${reason})`
  return channel === 'platform_fallback'
    ? { tone: 'warn', text: `${t('fallback.title')} ${why}` }
    : { tone: 'bad', text: `${t('home.check.failed')} ${why}` }
}

/** Searches for the newest document by its title. */
export async function checkDocument({ t }: I18n): Promise<Found> {
  const [newest] = (await libraryApi.page({ limit: '1' })).items
  const title = newest?.source?.title ?? newest?.doc?.title ?? ''
  const { results } = await api.kb.search({ q: title, collection: null })
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
