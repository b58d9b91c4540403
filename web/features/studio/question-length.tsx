import { useEffect, useState } from 'react'
import { AGENT_TEXT_CHARS_MAX } from '../../../src/core/limits/contract.ts'
import { useI18n } from '../../i18n/index.tsx'
import { CharCount, charsNear } from '../../ui/page.tsx'

const TYPED_MS = 1_000

/** The characters of a question; 0 while they are far from too many. */
export const charsOf = (text: string): number => charsNear(text, AGENT_TEXT_CHARS_MAX)
export const isTooLong = (chars: number): boolean => chars > AGENT_TEXT_CHARS_MAX

/** Counts where the question is written; a screen reader is told too many once typing pauses. */
export function QuestionLength({ chars }: { readonly chars: number }) {
  const { t } = useI18n()
  const [said, setSaid] = useState(0)
  useEffect(() => {
    const many = isTooLong(chars) ? chars : 0
    const timer = setTimeout(() => setSaid(many), many > 0 ? TYPED_MS : 0)
    return () => clearTimeout(timer)
  }, [chars])
  return (
    <>
      <span role="status" className="sr-only">
        {said > 0 && t('studio.long', { count: said, max: AGENT_TEXT_CHARS_MAX })}
      </span>
      <span aria-hidden>
        <CharCount count={chars} max={AGENT_TEXT_CHARS_MAX} />
      </span>
    </>
  )
}
