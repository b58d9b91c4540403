import { useEffect, useRef, useState } from 'react'
import { type I18n, useI18n } from '../../i18n/index.tsx'
import { plainText } from './spoken.ts'
import { type Turn, wordsIn } from './turn.ts'

function ending(turn: Turn, t: I18n['t']): string {
  if (turn.isStopped) return t('studio.stopped.kept')
  if (turn.state === 'stopped') return t('studio.stopped', { count: wordsIn(turn.reply) })
  if (turn.state !== 'done') return ''
  const words = plainText(turn.reply)
  return turn.fallback === null ? words : `${t('fallback.title')} ${words}`
}

/**
 * Tells a screen reader that an answer is coming, and then the whole answer once, or that it was
 * stopped; errors are alerts in the turn. It stays where another talk is opened: a region that
 * comes with its words in it is not heard.
 */
export function Announcer({ turns }: { readonly turns: readonly Turn[] }) {
  const { t } = useI18n()
  const [said, setSaid] = useState('')
  /** The turn that is told of, and whether its end is. */
  const told = useRef<string | null>(null)
  const isAwaited = useRef(false)
  const last = turns.at(-1)
  useEffect(() => {
    const awaited = isAwaited.current && last?.id === told.current
    isAwaited.current = last?.state === 'running'
    if (last?.state === 'running') {
      told.current = last.id
      setSaid(t('studio.answering'))
    } else if (awaited) setSaid(ending(last, t))
    // Another talk was opened.
    else if (last?.id !== told.current) setSaid('')
  }, [last, t])
  return (
    <p role="status" className="sr-only">
      {said}
    </p>
  )
}
