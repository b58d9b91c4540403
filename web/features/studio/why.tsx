import { BookText, Route } from 'lucide-react'
import type { ReactNode } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { toolName } from '../../i18n/tool-words.ts'
import { withIndexKeys } from '../../lib/index-keys.ts'
import { listed } from '../../lib/listed.ts'
import { Badge, Notice } from '../../ui/page.tsx'
import type { Passage } from '../kb/chunks-dialog.tsx'
import { NO_COLLECTION, useCollections } from '../kb/collections.ts'
import { usePlace } from '../kb/passages.tsx'
import { channelOf, Times, Tokens } from './foot.tsx'
import { Missed } from './missed.tsx'
import { ToolRun } from './tool-run.tsx'
import type { Turn } from './turn.ts'
import { reasonOf } from './turn-view.tsx'

interface WhyProps {
  /** Null before the first answer. */
  readonly turn: Turn | null
  readonly onOpen: (passage: Passage) => void
}

/** The details of a turn: passages found, tools called, the channel that answered. */
export function Why({ turn, onOpen }: WhyProps) {
  const { t } = useI18n()
  return (
    <>
      <h2>{t('studio.why')}</h2>
      {turn === null ? (
        <p className="text-ink-3">{t('studio.why.none')}</p>
      ) : (
        <>
          <p className="line-clamp-2 text-ink-3">{turn.text}</p>
          <Passages turn={turn} onOpen={onOpen} />
          <Tools turn={turn} />
          <AskedPart asked={turn.asked} />
          <Answered turn={turn} />
        </>
      )}
    </>
  )
}

function Part({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className="grid grid-cols-1 gap-2">
      <h3 className="text-small font-medium text-ink-3">{title}</h3>
      {children}
    </section>
  )
}

/** The collections that were searched. */
function Searched({ ids }: { readonly ids: readonly string[] }) {
  const { t, locale } = useI18n()
  const known = useCollections()
  const nameOf = (id: string) =>
    id === NO_COLLECTION ? t('kb.collections.none') : known.find((one) => one.id === id)?.name
  const names = ids.map((id) => nameOf(id) ?? t('apps.collections.gone'))
  const text = listed(names, locale) || t('studio.why.collections.nothing')
  return <p className="text-ink-2">{t('studio.why.collections', { names: text })}</p>
}

function Passages({ turn, onOpen }: { readonly turn: Turn; readonly onOpen: WhyProps['onOpen'] }) {
  const { t } = useI18n()
  const placeOf = usePlace()
  const { refs, stats } = turn
  const kb = stats?.kb
  return (
    <Part title={t('nav.kb')}>
      {typeof kb === 'object' && kb.collections && <Searched ids={kb.collections} />}
      {refs.length > 0 && (
        <ol className="grid grid-cols-1 gap-1">
          {refs.map((ref, index) => (
            <li key={`${ref.doc_id}:${ref.seq}`}>
              <button
                type="button"
                className="why-row"
                onClick={() => onOpen({ docId: ref.doc_id, title: ref.title, seq: ref.seq })}
              >
                <BookText size={14} className="mt-1 flex-none text-accent" aria-hidden />
                <span className="min-w-0 flex-1">
                  [{index + 1}] {ref.title}
                  <span className="block text-mini text-ink-3">{placeOf(ref)}</span>
                </span>
                <span className="tabular-nums">{ref.score.toFixed(2)}</span>
              </button>
            </li>
          ))}
        </ol>
      )}
      {typeof kb === 'object' && kb.shown === 0 && (
        <Missed question={turn.text} nearest={kb} onOpen={onOpen} />
      )}
      {kb === 'skipped' && <p className="text-ink-2">{t('studio.kb-skipped')}</p>}
      {refs.length === 0 && kb === undefined && (
        <p className="text-ink-3">{t('studio.why.unsearched')}</p>
      )}
    </Part>
  )
}

function Tools({ turn: { tools } }: { readonly turn: Turn }) {
  const { t } = useI18n()
  return (
    <Part title={t('apps.tools')}>
      {tools.length === 0 && <p className="text-ink-3">{t('studio.why.untooled')}</p>}
      {withIndexKeys(tools).map(({ key, item }) => (
        <ToolRun key={key} use={item} />
      ))}
    </Part>
  )
}

const OUTCOMES = {
  accept: 'studio.asked.accept',
  decline: 'studio.asked.decline',
  cancel: 'studio.asked.cancel',
} as const

/** What the person was asked, and how that ended. A turn that an earlier page has kept has none. */
function AskedPart({ asked = [] }: { readonly asked: Turn['asked'] | undefined }) {
  const { t, language } = useI18n()
  if (asked.length === 0) return null
  return (
    <Part title={t('studio.asked')}>
      <ul className="grid gap-1 text-small text-ink-2">
        {withIndexKeys(asked).map(({ key, item: { tool, action, ms } }) => (
          <li key={key} className="[overflow-wrap:anywhere]">
            {t('system.summary', {
              name: toolName(tool, language),
              value: t(OUTCOMES[action], { seconds: Math.round(ms / 1000) }),
            })}
          </li>
        ))}
      </ul>
    </Part>
  )
}

function Answered({ turn }: { readonly turn: Turn }) {
  const { t } = useI18n()
  const { stats, model, fallback } = turn
  const channel = channelOf(turn)
  return (
    <Part title={t('studio.why.answered')}>
      {fallback !== null && (
        <Notice tone="warn" icon={<Route size={16} aria-hidden />}>
          {t('fallback.title')} {t(reasonOf(fallback))}
        </Notice>
      )}
      <p className="flex flex-wrap gap-1.5">
        {channel && <Badge title={t(`channel.${channel}.about`)}>{t(`channel.${channel}`)}</Badge>}
        {model && <Badge>{model}</Badge>}
        {stats && !turn.isBuiltIn && (
          <Badge>{t('studio.calls', { count: stats.iterations })}</Badge>
        )}
      </p>
      <p className="grid gap-1 text-small text-ink-2">
        <Tokens turn={turn} />
        <Times turn={turn} />
      </p>
    </Part>
  )
}
