import { Link, useLocation } from '@tanstack/react-router'
import { TriangleAlert } from 'lucide-react'
import { ApiError } from '../../api/client.ts'
import { useI18n } from '../../i18n/index.tsx'
import { SIGNED_OUT, useExplain } from '../../lib/services.tsx'
import { Notice } from '../../ui/page.tsx'
import { type Turn, wordsIn } from './turn.ts'

/** Says that a turn was stopped or broke, after how many words, and what can be done. */
export function Broken({ turn }: { readonly turn: Turn }) {
  const { t } = useI18n()
  const { href } = useLocation()
  const explain = useFault()
  if (turn.state !== 'stopped' && turn.state !== 'failed') return null
  const count = wordsIn(turn.reply)
  if (turn.state === 'stopped') return <Notice>{t('studio.stopped', { count })}</Notice>
  return (
    <div role="alert">
      <Notice tone="bad" icon={<TriangleAlert size={16} aria-hidden />}>
        <p>{explain(turn)}</p>
        <p>{t(count === 0 ? 'studio.unsaved' : 'studio.unsaved.words', { count })}</p>
        {turn.fault?.status === SIGNED_OUT && (
          <Link to="/login" search={{ next: href }} target="_blank" className="underline">
            {t('session.again')}
          </Link>
        )}
      </Notice>
    </div>
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
