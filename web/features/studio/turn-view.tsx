import { BookText, Check, Clock, LoaderCircle, Repeat2, Route, X } from 'lucide-react'
import { memo } from 'react'
import { type Key, useI18n } from '../../i18n/index.tsx'
import { withIndexKeys } from '../../lib/index-keys.ts'
import { Button, CopyButton } from '../../ui/button.tsx'
import { Notice } from '../../ui/page.tsx'
import type { Passage } from '../kb/chunks-dialog.tsx'
import { Markdown } from '../markdown/markdown.tsx'
import { Broken } from './broken.tsx'
import { Missed } from './missed.tsx'
import type { ToolUse, Turn } from './turn.ts'
import { Waiting } from './waiting.tsx'

const CHANNELS = {
  byo: 'channel.byo',
  platform: 'channel.platform',
  platform_fallback: 'channel.fallback',
} as const satisfies Readonly<Record<string, Key>>

const REASONS: Readonly<Record<string, Key>> = {
  retry_exhausted: 'fallback.retry_exhausted',
  upstream_4xx: 'fallback.upstream_4xx',
  upstream_5xx: 'fallback.upstream_5xx',
  channel_unavailable: 'fallback.channel_unavailable',
}

interface TurnViewProps {
  readonly turn: Turn
  readonly onOpen: (passage: Passage) => void
  /** Present on the last turn only. */
  readonly onAgain: ((turn: Turn) => void) | undefined
}

export const TurnView = memo(({ turn, onOpen, onAgain }: TurnViewProps) => {
  const { t } = useI18n()
  const running = turn.state === 'running'
  const reason =
    turn.fallback === null ? null : (REASONS[turn.fallback] ?? 'fallback.provider_error')
  return (
    <li className="grid grid-cols-1 gap-4">
      <Question turn={turn} />
      <div className="grid grid-cols-1 gap-3" data-testid="reply" aria-busy={running}>
        <span className="sr-only">{t('role.assistant')}</span>
        <Chips turn={turn} onOpen={onOpen} />
        {reason && (
          <Notice tone="warn" icon={<Route size={16} aria-hidden />}>
            {t('fallback.title')} {t(reason)}
          </Notice>
        )}
        {running && turn.reply === '' && <Waiting since={turn.startedAt} />}
        <Markdown text={turn.reply} growing={running && turn.reply !== ''} />
        {turn.audio && (
          <audio controls autoPlay src={`data:audio/mpeg;base64,${turn.audio}`} className="w-full">
            <track kind="captions" />
          </audio>
        )}
        <Broken turn={turn} />
        {typeof turn.stats?.kb === 'object' && turn.stats.kb.shown === 0 && (
          <Missed question={turn.text} best={turn.stats.kb.best} onOpen={onOpen} />
        )}
        {!running && <Foot turn={turn} onAgain={onAgain} />}
      </div>
    </li>
  )
})

function Question({ turn }: { readonly turn: Turn }) {
  const { t } = useI18n()
  return (
    <div className="grid justify-items-end gap-2">
      {turn.images.length > 0 && (
        <div className="flex flex-wrap justify-end gap-2">
          {withIndexKeys(turn.images).map(({ key, item: image }, index) => (
            <img
              key={key}
              src={image}
              alt={t('studio.image', { number: index + 1 })}
              className="max-h-40 rounded-lg border border-line"
            />
          ))}
        </div>
      )}
      <span className="sr-only">{t('studio.you')}</span>
      <div className="bubble">{turn.text}</div>
    </div>
  )
}

function ToolChip({ use }: { readonly use: ToolUse }) {
  const icon = { size: 13, 'aria-hidden': true } as const
  return (
    <li className="badge" data-tone={use.ok === false ? 'bad' : undefined}>
      {use.ok === null && <LoaderCircle {...icon} className="animate-spin" />}
      {use.ok === true && <Check {...icon} />}
      {use.ok === false && <X {...icon} />}
      <code>{use.name}</code>
    </li>
  )
}

function Chips({ turn, onOpen }: Pick<TurnViewProps, 'turn' | 'onOpen'>) {
  const { t } = useI18n()
  if (turn.refs.length + turn.tools.length === 0) return null
  return (
    <ul className="flex flex-wrap gap-1.5" aria-label={t('studio.sources')}>
      {turn.refs.map(({ doc_id, title, seq, score }) => (
        <li key={`${doc_id}:${seq}`}>
          <button
            type="button"
            className="badge"
            data-tone="accent"
            title={t('studio.source', { score: score.toFixed(2) })}
            onClick={() => onOpen({ docId: doc_id, title, seq })}
          >
            <BookText size={13} aria-hidden />
            <span className="max-w-56 truncate">{title}</span>#{seq + 1}
          </button>
        </li>
      ))}
      {withIndexKeys(turn.tools).map(({ key, item: use }) => (
        <ToolChip key={key} use={use} />
      ))}
    </ul>
  )
}

function Foot({ turn, onAgain }: Pick<TurnViewProps, 'turn' | 'onAgain'>) {
  const { t } = useI18n()
  const seconds = (ms: number) => (ms / 1000).toFixed(1)
  return (
    <div className="flex flex-wrap items-center gap-x-3 text-[0.84rem] text-ink-3">
      <span className="flex gap-1">
        {turn.reply && <CopyButton text={turn.reply} size="small" />}
        {onAgain && (
          <Button
            kind="quiet"
            size="small"
            icon={<Repeat2 size={16} aria-hidden />}
            aria-label={t('studio.again')}
            onClick={() => onAgain(turn)}
          />
        )}
      </span>
      {turn.stats && <span>{t(CHANNELS[turn.stats.channel])}</span>}
      {turn.stats?.kb === 'skipped' && <span>{t('studio.kb-skipped')}</span>}
      {turn.stats && turn.stats.iterations > 1 && (
        <span>{t('studio.calls', { count: turn.stats.iterations })}</span>
      )}
      {turn.stats && <Tokens stats={turn.stats} />}
      {turn.totalMs !== null && (
        <span className="inline-flex items-center gap-1">
          <Clock size={13} aria-hidden />
          {turn.firstMs === null
            ? t('studio.seconds', { total: seconds(turn.totalMs) })
            : t('studio.timing', { first: seconds(turn.firstMs), total: seconds(turn.totalMs) })}
        </span>
      )}
    </div>
  )
}

/** What the turn used; an estimate where the model did not say. */
function Tokens({ stats }: { readonly stats: NonNullable<Turn['stats']> }) {
  const { t, locale } = useI18n()
  const values = {
    input: stats.input_tokens.toLocaleString(locale),
    output: stats.output_tokens.toLocaleString(locale),
  }
  return <span>{t(stats.usage_estimated ? 'studio.tokens.about' : 'studio.tokens', values)}</span>
}
