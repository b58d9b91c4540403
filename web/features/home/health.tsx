import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api } from '../../api/index.ts'
import { useI18n } from '../../i18n/index.tsx'
import type { Found } from './checks.ts'
import { type Facts, hasPlatformModel } from './steps.ts'

const DOTS = { good: 'bg-good', warn: 'bg-warn', bad: 'bg-bad' } as const

interface HealthProps {
  readonly facts: Facts
  /** What the last test of the model found. */
  readonly tested: Found | null
}

/** Whether all is well, in a sentence. Green only while a language model answers. */
export function Health({ facts: { status, provider }, tested }: HealthProps) {
  const { t, locale } = useI18n()
  const own = provider?.configured === true
  const replaced = useReplaced(own)
  if (!status || !provider) return null
  const failed = status.checks
    .filter(({ state, name }) => state === 'down' && !(own && name === 'llm'))
    .map(({ name }) => t(isPart(name) ? `part.${name}` : 'part.other'))
  const parts = new Intl.ListFormat(locale).format(failed)
  const builtin = !own && !hasPlatformModel(status)
  const say = (tone: keyof typeof DOTS, text: string) => (
    <p className="mb-5 flex flex-wrap items-center gap-x-2.5 gap-y-1" role="status">
      <span className={`size-2.5 flex-none rounded-full ${DOTS[tone]}`} aria-hidden />
      <span className="min-w-0">{text}</span>
      {replaced && (
        <Link to="/app/provider" className="target text-accent underline underline-offset-2">
          {t('nav.provider')}
        </Link>
      )}
      <a href="/status" className="target text-accent underline underline-offset-2">
        {t('status.page')}
      </a>
    </p>
  )
  if (status.status === 'down') return say('bad', t('home.down', { parts }))
  if (parts) return say('warn', t('home.unwell', { parts }))
  if (builtin) return say('warn', t('home.builtin'))
  if (tested && tested.tone !== 'good') return say(tested.tone, t('home.tested'))
  if (replaced) return say('warn', t('home.replaced'))
  return say('good', t('home.well'))
}

/** Whether the platform took over the newest turn although the tenant has its own channel. */
function useReplaced(own: boolean): boolean {
  const newest = useQuery({
    queryKey: ['logs', 'newest turn'],
    queryFn: () => api.logs({ endpoint: '/v1/agent', status: '2xx', limit: '1' }),
    enabled: own,
  })
  return own && newest.data?.logs[0]?.channel === 'platform'
}

const PARTS = ['database', 'llm', 'embedding', 'rerank', 'tts', 'asr', 'backup', 'turns'] as const
const isPart = (name: string): name is (typeof PARTS)[number] =>
  (PARTS as readonly string[]).includes(name)
