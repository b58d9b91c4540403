import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import type { KbLimits } from '../api/types.ts'
import { AddPanel } from '../features/kb/add-panel.tsx'
import { ChunksDialog, type Passage } from '../features/kb/chunks-dialog.tsx'
import { CollectionBar } from '../features/kb/collection-bar.tsx'
import { NO_COLLECTION, useLoadedCollections, useMove } from '../features/kb/collections.ts'
import { useEmbedding } from '../features/kb/embedding.ts'
import {
  chosenOf,
  idOf,
  isChecked,
  type Library,
  PAGE_SIZE,
  useLibrary,
  useLimits,
} from '../features/kb/library.ts'
import { LibraryList } from '../features/kb/library-list.tsx'
import { PageDialog } from '../features/kb/page-dialog.tsx'
import { useReplacing } from '../features/kb/replacing.ts'
import { Room } from '../features/kb/room.tsx'
import { Hits, SearchForm } from '../features/kb/search-panel.tsx'
import { useSearched } from '../features/kb/searched.ts'
import { useUploads } from '../features/kb/uploads.ts'
import { useView, type View } from '../features/kb/view.ts'
import { WriteDialog } from '../features/kb/write-dialog.tsx'
import { useI18n } from '../i18n/index.tsx'
import { reload } from '../lib/reload.ts'
import { useStable } from '../lib/use-stable.ts'
import { ForEditors } from '../ui/changeable.tsx'
import { Page, Section } from '../ui/page.tsx'
import { Fault, Loaded } from '../ui/state.tsx'

export function Kb() {
  const { t } = useI18n()
  const [checks, setChecks] = useState<ReadonlyMap<string, string | null | undefined>>(new Map())
  const { view: asked, show } = useView()
  const loaded = useLoadedCollections()
  const collections = loaded ?? []
  // A collection that is deleted elsewhere hides nothing.
  const isThere =
    loaded === undefined ||
    asked.collection === NO_COLLECTION ||
    loaded.some(({ id }) => id === asked.collection)
  const view = isThere ? asked : { ...asked, collection: null }
  const query = useLibrary(view, ({ items }) =>
    items.some((item) => item.kind === 'source' && isChecked(checks, item.source)),
  )
  const library = query.data
  const limits = useLimits()
  useReplacing()
  useCountsOf(library)
  useLastPage(library, view.page, show)
  const uploads = useUploads()
  // What is added is in view: in the collection that is shown, and whatever was looked for.
  const whole = { q: '', state: '', sort: 'newest' } as const
  const add = useStable((files: readonly File[]) => {
    uploads.add(files, { collection: view.collection })
    show(whole)
  })
  const [dialog, setDialog] = useState<'page' | 'write' | null>(null)
  const [passage, setPassage] = useState<Passage | null>(null)
  const close = () => setDialog(null)
  const search = useSearched()
  const move = useMove()
  const drop = (itemId: string, to: string) => {
    const item = library?.items.find((one) => idOf(one) === itemId)
    if (item) move.mutate({ item: chosenOf(item), to })
  }
  const name = collections.find(({ id }) => id === view.collection)?.name
  return (
    <Page title={t('nav.kb')} about={t('kb.about')}>
      <div className="grid grid-cols-1 gap-6 lg:grid-cols-[3fr_2fr]">
        <ForEditors>
          <AddPanel
            limits={limits}
            into={name}
            onFiles={add}
            onPage={() => setDialog('page')}
            onWrite={() => setDialog('write')}
          />
        </ForEditors>
        <section className="card grid content-start gap-3 p-5">
          <div>
            <h2>{t('kb.search')}</h2>
            <p className="text-note text-ink-2">
              {name === undefined ? t('kb.search.about') : t('kb.search.within', { name })}
            </p>
          </div>
          <SearchForm
            pending={search.isFetching ? (search.asked?.q ?? null) : null}
            onSearch={(q) => search.ask({ q, collection: view.collection })}
          />
        </section>
      </div>
      <Found search={search} inWork={library?.in_work ?? 0} onOpen={setPassage} />
      <Section title={t('kb.docs')} about={<Counts library={library} limits={limits} />}>
        {library && limits && library.docs > 0 && <Room library={library} limits={limits} />}
        <CollectionBar
          collections={collections}
          shown={view.collection}
          onShow={(collection) => show({ collection })}
          onDrop={drop}
        />
        <div className="card">
          <Loaded query={query}>
            {(page) => (
              <LibraryList
                library={page}
                limits={limits}
                view={view}
                onShow={show}
                isOld={query.isPlaceholderData}
                uploads={uploads}
                checks={checks}
                onCheck={(id, at) => setChecks((before) => new Map([...before, [id, at]]))}
              />
            )}
          </Loaded>
        </div>
      </Section>
      <WriteDialog
        open={dialog === 'write'}
        kilobytesMax={limits?.doc_kb_max ?? 100}
        collection={view.collection}
        onAdded={() => show(whole)}
        onClose={close}
      />
      <PageDialog
        open={dialog === 'page'}
        collection={view.collection}
        onAdded={() => show(whole)}
        onClose={close}
      />
      <ChunksDialog passage={passage} onClose={() => setPassage(null)} />
    </Page>
  )
}

/** Loads the counts of collections anew when documents have come or gone. */
function useCountsOf(library: Library | undefined) {
  const client = useQueryClient()
  const docs = library?.docs
  const known = useRef(docs)
  useEffect(() => {
    if (known.current !== undefined && known.current !== docs) {
      void reload(client, ['kb', 'collections'])
    }
    known.current = docs
  }, [docs, client])
}

/** Goes back to the last page that there is, when those after it were emptied. */
function useLastPage(
  library: Library | undefined,
  page: number,
  show: (more: Partial<View>) => void,
) {
  const last = library && Math.max(0, Math.ceil(library.matching / PAGE_SIZE) - 1)
  const isPast = last !== undefined && library?.items.length === 0 && page > last
  const goBack = useEffectEvent(() => show({ page: last ?? 0 }))
  useEffect(() => {
    if (isPast) goBack()
  }, [isPast])
}

interface CountsProps {
  readonly library: Library | undefined
  readonly limits: KbLimits | undefined
}

/** Announces to screen readers when a source is ready or has failed. */
function Counts({ library, limits }: CountsProps) {
  const { t, locale } = useI18n()
  const waiting = useEmbedding().data?.waiting ?? 0
  const number = (count: number) => count.toLocaleString(locale)
  const { docs, in_work: inWork, failed } = library ?? { docs: 0, in_work: 0, failed: 0 }
  const counts = [
    library && limits && t('kb.docs.count', { count: number(docs), max: number(limits.docs_max) }),
    inWork > 0 && t('kb.docs.work', { count: number(inWork) }),
    waiting > 0 && t('kb.docs.waiting', { count: number(waiting) }),
    failed > 0 && t('kb.docs.failed', { count: number(failed) }),
  ]
  return <span role="status">{counts.filter(Boolean).join(' · ') || '…'}</span>
}

interface FoundProps {
  readonly search: ReturnType<typeof useSearched>
  /** Files and pages that are not searched yet. */
  readonly inWork: number
  readonly onOpen: (passage: Passage) => void
}

/** The hits of a search, scrolled into view. */
function Found({ search, inWork, onOpen }: FoundProps) {
  const { t } = useI18n()
  const { asked, error, refetch } = search
  const results = search.data?.results
  const place = useRef<HTMLElement>(null)
  useEffect(() => {
    const top = place.current?.getBoundingClientRect().top ?? 0
    if (results && (top < 0 || top > innerHeight / 2)) place.current?.scrollIntoView()
  }, [results])
  return (
    <section ref={place} className="scroll-mt-16">
      <p role="status" className="sr-only">
        {results && t('kb.search.count', { count: results.length })}
      </p>
      {error && !results && (
        <div className="card mt-6">
          <Fault error={error} onRetry={() => void refetch()} />
        </div>
      )}
      {results && (
        <div className="mt-6">
          <h2 className="mb-3 wrap-anywhere">
            {t('kb.search.found.of', { question: asked?.q ?? '' })}
          </h2>
          <div className="card px-5 py-2">
            <Hits results={results} onOpen={onOpen} />
          </div>
          {inWork > 0 && (
            <p className="mt-2 text-note text-ink-2">{t('kb.search.work', { count: inWork })}</p>
          )}
        </div>
      )}
    </section>
  )
}
