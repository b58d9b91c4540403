import { useInfiniteQuery } from '@tanstack/react-query'
import { useCallback, useEffect, useRef } from 'react'
import { KB_CHUNKS_SHOWN_MAX } from '../../../src/core/limits/contract.ts'
import { api } from '../../api/index.ts'
import type { KbChunk } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { Button } from '../../ui/button.tsx'
import { Loaded } from '../../ui/state.tsx'
import { plainOf } from './plain.ts'
import { nearestSentence } from './sentence.ts'

/** Passages that are loaded before the marked one. */
const BEFORE = 5

interface PassagesProps {
  readonly docId: string
  /** The passage to mark and scroll to; null for the beginning. */
  readonly seq: number | null
  /** The sentence of the passage that supports this text is marked. */
  readonly quote?: string
}

/** The passages of a document, loaded in windows. */
export function Passages({ docId, seq, quote = '' }: PassagesProps) {
  const { t } = useI18n()
  const start = Math.max(0, (seq ?? 0) - BEFORE)
  const query = useInfiniteQuery({
    queryKey: ['kb', 'chunks', docId, start],
    queryFn: ({ pageParam }) => api.kb.chunks(docId, pageParam),
    initialPageParam: start,
    getNextPageParam: ({ chunks }) =>
      chunks.length < KB_CHUNKS_SHOWN_MAX ? undefined : (chunks.at(-1)?.seq ?? 0) + 1,
    getPreviousPageParam: (_first, _all, from) =>
      from === 0 ? undefined : Math.max(0, from - KB_CHUNKS_SHOWN_MAX),
  })
  return (
    <Loaded query={query}>
      {({ pages }) => (
        <div className="grid grid-cols-1 justify-items-center gap-3">
          {query.hasPreviousPage && (
            <Button
              size="small"
              busy={query.isFetchingPreviousPage}
              onClick={() => void query.fetchPreviousPage()}
            >
              {t('kb.passages.earlier')}
            </Button>
          )}
          <ol className="grid w-full grid-cols-1 gap-3">
            {unique(pages.flatMap(({ chunks }) => chunks)).map((chunk) => (
              <Chunk key={chunk.seq} chunk={chunk} meant={chunk.seq === seq} quote={quote} />
            ))}
          </ol>
          {query.hasNextPage && (
            <Button
              size="small"
              busy={query.isFetchingNextPage}
              onClick={() => void query.fetchNextPage()}
            >
              {t('kb.passages.later')}
            </Button>
          )}
        </div>
      )}
    </Loaded>
  )
}

/** Removes duplicates: a window before the first one may overlap it. */
const unique = (chunks: readonly KbChunk[]): KbChunk[] => [
  ...new Map(chunks.map((chunk) => [chunk.seq, chunk])).values(),
]

/** `p. 12 · Warranty`: page and heading of a passage, where known. */
export function usePlace() {
  const { t } = useI18n()
  return useCallback(
    ({ page, heading }: Pick<KbChunk, 'page' | 'heading'>): string =>
      [page !== null && t('kb.place.page', { page }), heading].filter(Boolean).join(' · '),
    [t],
  )
}

interface ChunkProps {
  readonly chunk: KbChunk
  readonly meant: boolean
  readonly quote: string
}

function Chunk({ chunk, meant, quote }: ChunkProps) {
  const { t } = useI18n()
  const placeOf = usePlace()
  const element = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (meant) element.current?.scrollIntoView({ block: 'center' })
  }, [meant])
  const place = placeOf(chunk)
  return (
    <li
      ref={element}
      className={`rounded-lg border p-4 ${meant ? 'border-accent bg-accent-soft' : 'border-line'}`}
      aria-current={meant || undefined}
    >
      <p className="mb-1 text-mini text-ink-3">
        {t('kb.chunk', { number: chunk.seq + 1 })}
        {place && ` · ${place}`}
        {chunk.ocr && ` · ${t('kb.chunk.ocr')}`}
      </p>
      <p className="text-note whitespace-pre-wrap">
        {meant ? <Marked text={plainOf(chunk.text)} quote={quote} /> : plainOf(chunk.text)}
      </p>
    </li>
  )
}

function Marked({ text, quote }: { readonly text: string; readonly quote: string }) {
  const span = nearestSentence(text, quote)
  if (span === null) return text
  return (
    <>
      {text.slice(0, span.from)}
      <mark className="bg-surface">{text.slice(span.from, span.to)}</mark>
      {text.slice(span.to)}
    </>
  )
}
