import { useEffect, useState } from 'react'
import { AGENT_TEXT_CHARS_MAX } from '../../../src/core/limits/contract.ts'
import { useI18n } from '../../i18n/index.tsx'

/** The characters of a question, as the server counts them, where they are too many; else 0. */
export function charsTooMany(text: string): number {
  if (text.length <= AGENT_TEXT_CHARS_MAX) return 0
  const count = [...text.trim()].length
  return count > AGENT_TEXT_CHARS_MAX ? count : 0
}

const TYPED_MS = 1_000

/** Says so where the question is written; to a screen reader once typing has paused. */
export function TooLong({ chars }: { readonly chars: number }) {
  const { t, locale } = useI18n()
  const [said, setSaid] = useState(0)
  useEffect(() => {
    const timer = setTimeout(() => setSaid(chars), chars > 0 ? TYPED_MS : 0)
    return () => clearTimeout(timer)
  }, [chars])
  return (
    <>
      <span role="status" className="sr-only">
        {said > 0 && t('studio.long', { count: said, max: AGENT_TEXT_CHARS_MAX })}
      </span>
      {chars > 0 && (
        <span className="text-mini text-bad" aria-hidden>
          {chars.toLocaleString(locale)} / {AGENT_TEXT_CHARS_MAX.toLocaleString(locale)}
        </span>
      )}
    </>
  )
}
