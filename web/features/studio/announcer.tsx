import { useEffect, useRef, useState } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { plainText } from './spoken.ts'
import { type Turn, wordsIn } from './turn.ts'

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
      const count = wordsIn(last.reply)
      const ending =
        last.state === 'stopped' || last.isStopped ? t('studio.stopped', { count }) : ''
      setSaid(last.state === 'done' && !last.isStopped ? plainText(last.reply) : ending)
    }
  }, [last, t])
  return (
    <p role="status" className="sr-only">
      {said}
    </p>
  )
}
