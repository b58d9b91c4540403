import { Search } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { KB_SCORE_MIN } from '../../../src/core/limits/contract.ts'
import type { KbHit } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { Button } from '../../ui/button.tsx'
import type { Passage } from './chunks-dialog.tsx'
import { usePlace } from './passages.tsx'
import { plainOf } from './plain.ts'

interface SearchFormProps {
  /** The question that is being searched for; another can be asked meanwhile. */
  readonly pending: string | null
  readonly onSearch: (q: string) => void
}

export function SearchForm({ pending, onSearch }: SearchFormProps) {
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
        icon={<Search size={16} className="flex-none" aria-hidden />}
        busy={pending !== null && pending === q.trim()}
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
          onClick={() => onOpen(passageOf(hit))}
        >
          {hit.title} <span className="text-ink-3">#{hit.seq + 1}</span>
        </button>
        <span className={`text-small ${used ? 'text-good' : 'text-ink-3'}`}>
          {t(used ? 'kb.search.used' : 'kb.search.unused')}
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
      <Why hit={hit} />
      <p className="line-clamp-3 text-note text-ink-2 wrap-anywhere">{plainOf(hit.text)}</p>
    </li>
  )
}

/** The passage to open, with the sentence that decided, to be marked. */
function passageOf({ doc_id: docId, title, seq, sentence }: KbHit): Passage {
  return { docId, title, seq, ...(sentence === undefined ? {} : { quote: sentence }) }
}

/** Both figures of a hit in words, and why a turn would show it to the model or not. */
function Why({ hit }: { readonly hit: KbHit }) {
  const { t } = useI18n()
  const score = t('kb.search.score', {
    score: hit.score.toFixed(2),
    words: t(isEnough(hit.score) ? 'kb.search.score.high' : 'kb.search.score.low'),
  })
  const relevance = t('kb.search.relevance', {
    relevance: hit.relevance.toFixed(2),
    words: t(relevanceWords(hit.relevance)),
  })
  return (
    <div className="grid gap-1 text-small text-ink-2">
      <span>{score}</span>
      <ScoreBar score={hit.score} used={isEnough(hit.score)} />
      <span>{relevance}</span>
      <ScoreBar score={hit.relevance} used={isEnough(hit.relevance)} />
      <span className="text-ink-3">{t(whyOf(hit), { least: KB_SCORE_MIN })}</span>
    </div>
  )
}

const isEnough = (figure: number) => figure >= KB_SCORE_MIN

/** From here on an answer is very likely. */
const VERY_LIKELY = 0.75

function relevanceWords(relevance: number) {
  if (relevance >= VERY_LIKELY) return 'kb.search.relevance.high'
  return isEnough(relevance) ? 'kb.search.relevance.middle' : 'kb.search.relevance.low'
}

/** The reason why a turn would show the passage to the model or not. */
function whyOf({ score, relevance }: Pick<KbHit, 'score' | 'relevance'>) {
  if (isEnough(score)) return isEnough(relevance) ? 'kb.search.why.used' : 'kb.search.why.relevance'
  return isEnough(relevance) ? 'kb.search.why.score' : 'kb.search.why.both'
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
