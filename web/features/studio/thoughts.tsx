import type { ReactNode } from 'react'
import { useI18n } from '../../i18n/index.tsx'

interface ThoughtsProps {
  readonly text: string
  /** What the line says while the answer is awaited. */
  readonly waiting: ReactNode
  /** Milliseconds to the first word of the answer; null before it. */
  readonly ms: number | null
}

/** The model's reasoning before its answer, folded. */
export function Thoughts({ text, waiting, ms }: ThoughtsProps) {
  const { t } = useI18n()
  if (text === '') return null
  const seconds = ms === null ? 0 : Math.round(ms / 1_000)
  return (
    <details className="text-small text-ink-3">
      <summary className="target cursor-pointer">
        {waiting ?? (seconds > 0 ? t('studio.thought', { seconds }) : t('studio.thoughts'))}
      </summary>
      <p className="thoughts">{text}</p>
    </details>
  )
}
