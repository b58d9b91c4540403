import { Search } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { KB_SCORE_MIN } from '../../../src/core/limits/contract.ts'
import type { KbHit } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { Button } from '../../ui/button.tsx'
import type { Passage } from './chunks-dialog.tsx'
import { usePlace } from './passages.tsx'

interface SearchFormProps {
  readonly busy: boolean
  readonly onSearch: (q: string) => void
}

export function SearchForm({ busy, onSearch }: SearchFormProps) {
  const { t } = useI18n()
  const [q, setQ] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (q.trim()) onSearch(q.trim())
  }
  return (
    <form className="flex gap-2" onSubmit={submit}>
      <input
        className="input"
        type="search"
        aria-label={t('kb.search.label')}
        placeholder={t('kb.search.label')}
        value={q}
        onChange={(event) => setQ(event.target.value)}
      />
      <Button
        type="submit"
        icon={<Search size={16} aria-hidden />}
        busy={busy}
        disabled={!q.trim()}
      >
        {t('kb.search.go')}
      </Button>
    </form>
  )
}

interface HitsProps {
  readonly results: readonly KbHit[]
  readonly onOpen: (passage: Passage) => void
}

/** The passages found, with scores, and which of them a turn would show to the model. */
export function Hits({ results, onOpen }: HitsProps) {
  const { t } = useI18n()
  if (results.length === 0) return <p className="py-4 text-ink-2">{t('kb.search.none')}</p>
  return (
    <ol className="divide-y divide-line">
      {results.map((hit) => (
        <Hit key={`${hit.doc_id}:${hit.seq}`} hit={hit} onOpen={onOpen} />
      ))}
    </ol>
  )
}

interface HitProps {
  readonly hit: KbHit
  readonly onOpen: (passage: Passage) => void
}

function Hit({ hit, onOpen }: HitProps) {
  const { t } = useI18n()
  const placeOf = usePlace()
  const used = hit.shown
  const place = placeOf(hit)
  return (
    <li className="grid grid-cols-1 gap-1.5 py-3.5">
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
        <button
          type="button"
          className="min-w-0 text-left font-medium wrap-anywhere underline-offset-2 hover:underline"
          onClick={() => onOpen({ docId: hit.doc_id, title: hit.title, seq: hit.seq })}
        >
          {hit.title} <span className="text-ink-3">#{hit.seq + 1}</span>
        </button>
        <span className={`text-small ${used ? 'text-good' : 'text-ink-3'}`}>
          {t(used ? 'kb.search.used' : 'kb.search.unused')} · {hit.score.toFixed(3)}
        </span>
      </div>
      {(place || hit.url) && (
        <p className="text-small text-ink-3 wrap-anywhere">
          {place}
          {place && hit.url && ' · '}
          {hit.url && (
            <a href={hit.url} target="_blank" rel="noreferrer" className="underline">
              {hit.url}
            </a>
          )}
        </p>
      )}
      <ScoreBar score={hit.score} used={used} />
      <p className="line-clamp-3 text-note text-ink-2 wrap-anywhere">{hit.text}</p>
    </li>
  )
}

interface ScoreBarProps {
  readonly score: number
  readonly used: boolean
}

function ScoreBar({ score, used }: ScoreBarProps) {
  const width = `${Math.max(0, Math.min(1, score)) * 100}%`
  return (
    <span className="relative block h-1.5 rounded-full bg-sunken" aria-hidden>
      <span
        className={`block h-full rounded-full ${used ? 'bg-good' : 'bg-ink-3'}`}
        style={{ width }}
      />
      <span
        className="absolute -inset-y-1 w-0.5 bg-ink"
        style={{ left: `${KB_SCORE_MIN * 100}%` }}
      />
    </span>
  )
}
