import { useEffect, useRef, useState } from 'react'
import { type I18n, useI18n } from '../../i18n/index.tsx'
import { plainText } from './spoken.ts'
import { type Turn, wordsIn } from './turn.ts'

function ending(turn: Turn, t: I18n['t']): string {
  if (turn.isStopped) return t('studio.stopped.kept')
  if (turn.state === 'stopped') return t('studio.stopped', { count: wordsIn(turn.reply) })
  return turn.state === 'done' ? plainText(turn.reply) : ''
}

/**
 * Tells a screen reader that an answer is coming, and then the whole answer once, or that it was
 * stopped; errors are alerts in the turn.
 */
export function Announcer({ turns }: { readonly turns: readonly Turn[] }) {
  const { t } = useI18n()
  const [said, setSaid] = useState('')
  const awaited = useRef<string | null>(null)
  const last = turns.at(-1)
  useEffect(() => {
    if (last?.state === 'running') {
      awaited.current = last.id
      setSaid(t('studio.answering'))
    } else if (last && awaited.current === last.id) {
      awaited.current = null
      setSaid(ending(last, t))
    }
  }, [last, t])
  return (
    <p role="status" className="sr-only">
      {said}
    </p>
  )
}
