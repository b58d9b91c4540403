import { useQuery } from '@tanstack/react-query'
import { BookText, Search } from 'lucide-react'
import { useState } from 'react'
import { api } from '../../api/index.ts'
import { useI18n } from '../../i18n/index.tsx'
import { Loaded } from '../../ui/state.tsx'
import type { Passage } from '../kb/chunks-dialog.tsx'
import { useEmbedding } from '../kb/embedding.ts'

interface MissedProps {
  readonly question: string
  /** The nearest passage; one of the two is below the threshold of 0.45. */
  readonly nearest: { readonly best: number; readonly relevance: number }
  readonly onOpen: (passage: Passage) => void
}

/** Says that a search found nothing relevant; opened, it lists the nearest passages. */
export function Missed({ question, nearest, onOpen }: MissedProps) {
  const { t } = useI18n()
  const [isOpen, setOpen] = useState(false)
  const count = useEmbedding().data?.docs
  const values = { best: nearest.best.toFixed(2), relevance: nearest.relevance.toFixed(2) }
  return (
    <details className="text-small text-ink-3" onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary className="cursor-pointer">
        <Search size={13} aria-hidden className="mr-1 inline" />
        {count === undefined
          ? t('studio.missed', values)
          : t('studio.missed.docs', { ...values, count })}
      </summary>
      {isOpen && <Nearest question={question} onOpen={onOpen} />}
    </details>
  )
}

function Nearest({ question, onOpen }: Pick<MissedProps, 'question' | 'onOpen'>) {
  const { t } = useI18n()
  const query = useQuery({
    queryKey: ['kb', 'nearest', question],
    queryFn: () => api.kb.search({ q: question, collection: null }),
  })
  return (
    <Loaded query={query}>
      {({ results }) => (
        <div className="mt-2 grid gap-2">
          <p>{t('studio.missed.nearest')}</p>
          <ul className="sources flex flex-wrap gap-1.5">
            {results.map(({ doc_id, title, seq, score }) => (
              <li key={`${doc_id}:${seq}`}>
                <button
                  type="button"
                  className="badge"
                  title={t('studio.source', { score: score.toFixed(2) })}
                  onClick={() => onOpen({ docId: doc_id, title, seq })}
                >
                  <BookText size={13} aria-hidden />
                  <span className="max-w-56 truncate">{title}</span>#{seq + 1}
                </button>
              </li>
            ))}
          </ul>
        </div>
      )}
    </Loaded>
  )
}
