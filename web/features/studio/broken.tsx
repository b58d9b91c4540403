import { Link, useLocation } from '@tanstack/react-router'
import { Repeat2, Settings2, TriangleAlert } from 'lucide-react'
import { ApiError } from '../../api/client.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useMayChange, useOperator } from '../../lib/rights.ts'
import { SIGNED_OUT, useExplain } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/page.tsx'
import { useErrorClass } from '../logs/error-class.ts'
import { type Turn, wordsIn } from './turn.ts'
import type { Wish } from './wish.ts'

interface BrokenProps {
  readonly turn: Turn
  readonly isLast: boolean
  /** Null when the turn cannot be asked again. */
  readonly onAgain: ((wish?: Wish) => void) | null
}

/** Says that a turn was stopped or broke, after how many words, and what can be done. */
export function Broken({ turn, isLast, onAgain }: BrokenProps) {
  const { t } = useI18n()
  const explain = useFault()
  const count = wordsIn(turn.reply)
  if (turn.isStopped) return <Notice>{t('studio.stopped.kept')}</Notice>
  if (turn.state === 'stopped') return <Notice>{t('studio.stopped', { count })}</Notice>
  // An alert is heard again when its words come after it.
  if (turn.state !== 'failed' || (!turn.isInterrupted && explain(turn) === '')) return null
  return (
    // One of before is not told again when its talk is opened.
    <div role={isLast ? 'alert' : undefined}>
      <Notice tone="warn" icon={<TriangleAlert size={16} aria-hidden />}>
        <Words turn={turn} />
        <div className="mt-2 flex flex-wrap items-center gap-2">
          {onAgain && (
            <Button size="small" icon={<Repeat2 size={15} aria-hidden />} onClick={() => onAgain()}>
              {t(turn.isInterrupted ? 'studio.continue' : 'studio.retry')}
            </Button>
          )}
          {/* The model that was chosen for this answer may be gone. */}
          {onAgain && turn.wish?.model !== undefined && (
            <Button size="small" onClick={() => onAgain({})}>
              {t('studio.models.usual')}
            </Button>
          )}
          <Mend turn={turn} />
        </div>
      </Notice>
    </div>
  )
}

/** What happened, in words of our own, and in the provider's where they are told. */
function Words({ turn }: { readonly turn: Turn }) {
  const { t } = useI18n()
  const explain = useFault()
  const nameOf = useErrorClass()
  const count = wordsIn(turn.reply)
  if (turn.isInterrupted) return <p>{t('studio.interrupted')}</p>
  const { detail, kind, upstream, error } = turn.fault ?? {}
  const isOfModel = error?.code.startsWith('model_') === true
  const known = kind === undefined || !isOfModel ? [] : [nameOf(kind)]
  if (upstream) known.push(`HTTP ${upstream}`)
  return (
    <>
      <p>{explain(turn)}</p>
      {known.length > 0 && <p className="text-note">{known.join(' · ')}</p>}
      {detail && (
        <details className="text-note">
          <summary className="target cursor-pointer">{t('studio.detail')}</summary>
          <p className="mt-1 text-ink-2">{detail}</p>
        </details>
      )}
      <p>{t(count === 0 ? 'studio.unsaved' : 'studio.unsaved.words', { count })}</p>
    </>
  )
}

/** The way to whoever can mend it: the sign-in, or the settings of the model. */
function Mend({ turn: { fault, isInterrupted } }: { readonly turn: Turn }) {
  const { t } = useI18n()
  const { href } = useLocation()
  const isOperator = useOperator()
  const mayChange = useMayChange()
  if (fault?.status === SIGNED_OUT) {
    return (
      <Link to="/login" search={{ next: href }} target="_blank" className="underline">
        {t('session.again')}
      </Link>
    )
  }
  const isOfModel = fault?.error?.code.startsWith('model_') === true
  if (isInterrupted || !isOfModel || !mayChange) return null
  return (
    <Link
      to={isOperator ? '/app/system/models' : '/app/provider'}
      className="btn"
      data-size="small"
    >
      <Settings2 size={15} aria-hidden />
      {t('studio.mend')}
    </Link>
  )
}

function useFault() {
  const { t, words } = useI18n()
  const explain = useExplain()
  return ({ fault, reply }: Turn): string => {
    if (fault === null) return t('studio.cut')
    const { message, status, error } = fault
    if (status === null) return words(message, error ?? undefined) ?? message
    // A status of 0 after some text is a broken connection: the server was reachable before.
    if (status === 0 && reply !== '') return t('studio.cut')
    return explain(new ApiError(message, status, error ?? undefined))
  }
}
