import { ExternalLink, Hand, MessageCircleQuestion } from 'lucide-react'
import { type FormEvent, useId } from 'react'
import { api } from '../../api/index.ts'
import type { Ask, AskAnswer } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { useNow } from '../../lib/time.ts'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/page.tsx'
import { AskForm, useAnswer } from './ask-form.tsx'

/** One question of a turn: who asks what, its form, and how long it waits. */
export function AskCard({ ask }: { readonly ask: Ask }) {
  const { t } = useI18n()
  const heading = useId()
  const answering = useAnswer(ask)
  const send = useAction((answer: AskAnswer) => api.answerAsk(ask.id, answer))
  const title = useTitle(ask)
  const accept = (more: Partial<AskAnswer> = {}) => {
    const content = answering.read()
    if (content) send.mutate({ action: 'accept', content, ...more })
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    accept()
  }
  return (
    <section className="card mb-2 max-h-[60vh] overflow-y-auto px-4 pt-4" aria-labelledby={heading}>
      <p role="alert" className="sr-only">
        {[title, ask.message].filter(Boolean).join(' ')}
      </p>
      <form className="grid gap-3" onSubmit={submit}>
        <div className="flex flex-wrap items-center justify-between gap-x-4">
          <h2 id={heading} className="flex items-center gap-2 font-medium [overflow-wrap:anywhere]">
            {ask.kind === 'approval' ? (
              <Hand size={16} className="flex-none" aria-hidden />
            ) : (
              <MessageCircleQuestion size={16} className="flex-none" aria-hidden />
            )}
            {title}
          </h2>
          <Left until={ask.expires_at} />
        </div>
        {ask.message && (
          <p className="whitespace-pre-wrap [overflow-wrap:anywhere]">{ask.message}</p>
        )}
        {ask.warning && <Notice tone="warn">{t('studio.ask.secret')}</Notice>}
        {ask.kind === 'link' ? <Link ask={ask} /> : <AskForm ask={ask} answering={answering} />}
        <Choices ask={ask} busy={send.isPending} onAccept={accept} onAnswer={send.mutate} />
      </form>
    </section>
  )
}

function useTitle({ kind, server, tool, title, host }: Ask): string {
  const { t } = useI18n()
  // The server may choose any title: the name is what was approved.
  const named = title === null || title === tool ? (tool ?? '') : `${title} (${tool})`
  const shown = { server: server ?? '', tool: named, host: host ?? '' }
  if (kind === 'approval') return t('studio.ask.approval', shown)
  if (kind === 'link') return t('studio.ask.link', shown)
  return server === null ? t('studio.ask.model') : t('studio.ask.question', shown)
}

function Link({ ask: { url, host } }: { readonly ask: Ask }) {
  const { t } = useI18n()
  return (
    <p className="grid justify-items-start gap-2 [overflow-wrap:anywhere]">
      <code className="text-small text-ink-2">{url}</code>
      <a
        href={url ?? ''}
        target="_blank"
        rel="noreferrer noopener"
        className="btn"
        data-kind="primary"
        data-size="small"
      >
        <ExternalLink size={14} aria-hidden />
        {t('studio.ask.open', { host: host ?? '' })}
      </a>
    </p>
  )
}

interface ChoicesProps {
  readonly ask: Ask
  readonly busy: boolean
  readonly onAccept: (more?: Partial<AskAnswer>) => void
  readonly onAnswer: (answer: AskAnswer) => void
}

const ACCEPT = {
  approval: 'studio.ask.once',
  question: 'studio.ask.send',
  link: 'studio.ask.opened',
} as const

function Choices({ ask: { kind, warning }, busy, onAccept, onAnswer }: ChoicesProps) {
  const { t } = useI18n()
  const isApproval = kind === 'approval'
  return (
    <div className="sticky bottom-0 flex flex-wrap gap-2 bg-surface py-3">
      <Button
        type="submit"
        kind={warning || kind === 'link' ? undefined : 'primary'}
        size="small"
        busy={busy}
      >
        {t(ACCEPT[kind])}
      </Button>
      {isApproval && (
        <Button size="small" disabled={busy} onClick={() => onAccept({ remember: 'session' })}>
          {t('studio.ask.session')}
        </Button>
      )}
      <Button
        size="small"
        kind="quiet"
        disabled={busy}
        onClick={() => onAnswer({ action: 'decline' })}
      >
        {t(isApproval ? 'studio.ask.deny' : 'studio.ask.decline')}
      </Button>
    </div>
  )
}

const SECOND_MS = 1_000

/** How long the turn still waits; told to nobody who only hears it. */
function Left({ until }: { readonly until: string }) {
  const { t } = useI18n()
  const now = useNow(SECOND_MS)
  const seconds = Math.max(0, Math.round((Date.parse(until) - now) / SECOND_MS))
  const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
  return (
    <span role="timer" aria-live="off" className="text-small text-ink-3 tabular-nums">
      {t('studio.ask.left', { time })}
    </span>
  )
}
