import { BookText, FileText } from 'lucide-react'
import { type ReactNode, useMemo } from 'react'
import type { KbRef } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import type { Passage } from '../kb/chunks-dialog.tsx'
import { usePlace } from '../kb/passages.tsx'
import { Citations } from '../markdown/citations.tsx'
import type { Turn } from './turn.ts'

type OnOpen = (passage: Passage) => void

const passageOf = ({ doc_id, title, seq }: KbRef): Passage => ({ docId: doc_id, title, seq })

interface CitingProps {
  readonly refs: readonly KbRef[]
  readonly onOpen: OnOpen
  readonly children: ReactNode
}

/** Lets `[1]` in a reply open the first source, at the text that supports the sentence. */
export function Citing({ refs, onOpen, children }: CitingProps) {
  const { t } = useI18n()
  const placeOf = usePlace()
  const cite = useMemo(() => {
    if (refs.length === 0) return null
    return (number: number, quote: string) => {
      const ref = refs[number - 1]
      if (!ref) return null
      const title = [ref.title, placeOf(ref)].filter(Boolean).join(' · ')
      return (
        <button
          type="button"
          className="cite"
          title={title}
          aria-label={t('studio.cite', { number, title })}
          onClick={() => onOpen({ ...passageOf(ref), quote })}
        >
          {number}
        </button>
      )
    }
  }, [refs, onOpen, placeOf, t])
  return <Citations value={cite}>{children}</Citations>
}

/** The sources of a turn by number: documents, and the files beside the question. */
export function Sources({ turn, onOpen }: { readonly turn: Turn; readonly onOpen: OnOpen }) {
  const { t } = useI18n()
  const placeOf = usePlace()
  const files = [...new Map(turn.fileRefs.map((ref) => [ref.file_id, ref])).values()]
  if (turn.refs.length + files.length === 0) return null
  return (
    <ul className="sources flex flex-wrap gap-1.5" aria-label={t('studio.sources')}>
      {turn.refs.map((ref, index) => (
        <li key={`${ref.doc_id}:${ref.seq}`} className="min-w-0">
          <button
            type="button"
            className="badge"
            data-tone="accent"
            title={t('studio.source', { score: ref.score.toFixed(2) })}
            onClick={() => onOpen(passageOf(ref))}
          >
            <BookText size={13} className="flex-none" aria-hidden />
            {index + 1}
            <span className="max-w-56 truncate">{ref.title}</span>
            {ref.page !== null && <span>{placeOf({ page: ref.page, heading: null })}</span>}
          </button>
        </li>
      ))}
      {files.map(({ file_id, name, page }) => (
        <li key={file_id} className="badge">
          <FileText size={13} className="flex-none" aria-hidden />
          <span className="max-w-56 truncate">{name}</span>
          {page !== null && <span>{placeOf({ page, heading: null })}</span>}
        </li>
      ))}
    </ul>
  )
}
