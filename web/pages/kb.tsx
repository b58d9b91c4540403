import { useEffect, useRef, useState } from 'react'
import { api } from '../api/index.ts'
import type { KbHit } from '../api/types.ts'
import { AddPanel } from '../features/kb/add-panel.tsx'
import { ChunksDialog, type Passage } from '../features/kb/chunks-dialog.tsx'
import { CollectionBar } from '../features/kb/collection-bar.tsx'
import { NO_COLLECTION, useCollections, useMove } from '../features/kb/collections.ts'
import { useEmbedding } from '../features/kb/embedding.ts'
import { idOf, isInWork, itemsOf, type Library, useLibrary } from '../features/kb/library.ts'
import { LibraryList } from '../features/kb/library-list.tsx'
import { PageDialog } from '../features/kb/page-dialog.tsx'
import { useReplacing } from '../features/kb/replacing.ts'
import { Room } from '../features/kb/room.tsx'
import { Hits, SearchForm } from '../features/kb/search-panel.tsx'
import { useUploads } from '../features/kb/uploads.ts'
import { WriteDialog } from '../features/kb/write-dialog.tsx'
import { useI18n } from '../i18n/index.tsx'
import { useAction } from '../lib/services.tsx'
import { useStable } from '../lib/use-stable.ts'
import { ForEditors } from '../ui/changeable.tsx'
import { Page, Section } from '../ui/page.tsx'
import { Loaded } from '../ui/state.tsx'

export function Kb() {
  const { t } = useI18n()
  const [checks, setChecks] = useState<ReadonlyMap<string, string | null | undefined>>(new Map())
  const query = useLibrary(({ sources }) =>
    sources.some(({ id, checked_at }) => checks.get(id) === checked_at),
  )
  const library = query.data
  useReplacing(library)
  const uploads = useUploads()
  const add = useStable(uploads.add)
  const [dialog, setDialog] = useState<'page' | 'write' | null>(null)
  const [passage, setPassage] = useState<Passage | null>(null)
  const search = useAction(api.kb.search)
  const close = () => setDialog(null)
  const collections = useCollections()
  const [chosen, setShown] = useState<string | null>(null)
  // A collection that is deleted elsewhere hides nothing.
  const isThere = chosen === NO_COLLECTION || collections.some(({ id }) => id === chosen)
  const shown = isThere ? chosen : null
  const move = useMove()
  const drop = (itemId: string, to: string) => {
    const item = library && itemsOf(library).find((one) => idOf(one) === itemId)
    if (item) move.mutate({ item, to })
  }
  return (
    <Page title={t('nav.kb')} about={t('kb.about')}>
      <div className="grid grid-cols-1 gap-6 lg:grid-cols-[3fr_2fr]">
        <ForEditors>
          <AddPanel
            limits={library?.limits}
            onFiles={add}
            onPage={() => setDialog('page')}
            onWrite={() => setDialog('write')}
          />
        </ForEditors>
        <section className="card grid content-start gap-3 p-5">
          <div>
            <h2>{t('kb.search')}</h2>
            <p className="text-note text-ink-2">{t('kb.search.about')}</p>
          </div>
          <SearchForm
            busy={search.isPending}
            onSearch={(q) => search.mutate({ q, collection: shown })}
          />
        </section>
      </div>
      <Found
        results={search.data?.results}
        inWork={library?.sources.filter(isInWork).length ?? 0}
        onOpen={setPassage}
      />
      <Section title={t('kb.docs')} about={<Counts library={library} />}>
        {library && library.docs.length > 0 && <Room library={library} />}
        <CollectionBar collections={collections} shown={shown} onShow={setShown} onDrop={drop} />
        <div className="card">
          <Loaded query={query}>
            {(loaded) => (
              <LibraryList
                library={loaded}
                shown={shown}
                uploads={uploads}
                checks={checks}
                onCheck={(id, at) => setChecks((before) => new Map([...before, [id, at]]))}
              />
            )}
          </Loaded>
        </div>
      </Section>
      <WriteDialog open={dialog === 'write'} library={library} onClose={close} />
      <PageDialog open={dialog === 'page'} sources={library?.sources ?? []} onClose={close} />
      <ChunksDialog passage={passage} onClose={() => setPassage(null)} />
    </Page>
  )
}

/** Announces to screen readers when a source is ready or has failed. */
function Counts({ library }: { readonly library: Library | undefined }) {
  const { t } = useI18n()
  const waiting = useEmbedding().data?.waiting ?? 0
  const sources = library?.sources ?? []
  const inWork = sources.filter(isInWork).length
  const failed = sources.filter(({ state }) => state === 'failed').length
  const counts = [
    library && t('kb.docs.count', { count: library.docs.length, max: library.limits.docs_max }),
    inWork > 0 && t('kb.docs.work', { count: inWork }),
    waiting > 0 && t('kb.docs.waiting', { count: waiting }),
    failed > 0 && t('kb.docs.failed', { count: failed }),
  ]
  return <span role="status">{counts.filter(Boolean).join(' · ') || '…'}</span>
}

interface FoundProps {
  readonly results: readonly KbHit[] | undefined
  /** Files and pages that are not searched yet. */
  readonly inWork: number
  readonly onOpen: (passage: Passage) => void
}

/** The hits of a search, scrolled into view. */
function Found({ results, inWork, onOpen }: FoundProps) {
  const { t } = useI18n()
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
      {results && (
        <div className="mt-6">
          <h2 className="mb-3">{t('kb.search.found')}</h2>
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
