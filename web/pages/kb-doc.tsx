import { Link, useLocation, useParams } from '@tanstack/react-router'
import { BookText, ChevronLeft, ExternalLink } from 'lucide-react'
import type { KbDocResponse } from '../api/types.ts'
import { Cited } from '../features/kb/cited.tsx'
import { Facts } from '../features/kb/facts.tsx'
import { PagePicker } from '../features/kb/page-picker.tsx'
import { useDoc, useParts, useSource } from '../features/kb/parts.ts'
import { Passages } from '../features/kb/passages.tsx'
import { useI18n } from '../i18n/index.tsx'
import { Notice, Page } from '../ui/page.tsx'
import { Empty, Loaded } from '../ui/state.tsx'

/** A document, opened at the passage that the address names: `/app/kb/{doc_id}#{seq}`. */
export function KbDocPage() {
  const { t } = useI18n()
  const { doc: id = '' }: { doc?: string } = useParams({ strict: false })
  const query = useDoc(id)
  const actions = (
    <Link to="/app/kb" className="btn">
      <ChevronLeft size={16} aria-hidden />
      {t('nav.kb')}
    </Link>
  )
  return (
    <Page
      title={query.data?.title ?? t('kb.doc')}
      about={query.data?.source_id && <About doc={query.data} sourceId={query.data.source_id} />}
      actions={actions}
    >
      <Loaded query={query}>
        {(doc) =>
          doc ? (
            <Text doc={doc} />
          ) : (
            <Empty icon={<BookText />} title={t('kb.doc.gone')} text={t('kb.doc.gone.text')} />
          )
        }
      </Loaded>
    </Page>
  )
}

interface AboutProps {
  readonly doc: KbDocResponse
  readonly sourceId: string
}

/** The source of the document, and links to its other parts. */
function About({ doc, sourceId }: AboutProps) {
  const { t } = useI18n()
  const source = useSource(sourceId).data
  const parts = useParts(sourceId).data?.docs ?? []
  if (!source) return null
  const at = parts.findIndex((part) => part.id === doc.id)
  const around = [
    ['kb.part.before', parts[at - 1]],
    ['kb.part.after', parts[at + 1]],
  ] as const
  return (
    <span className="flex flex-wrap gap-x-4 gap-y-1 wrap-anywhere">
      <span>{t(source.kind === 'file' ? 'kb.doc.file' : 'kb.doc.page')}</span>
      {source.url && (
        <a
          href={source.url}
          target="_blank"
          rel="noreferrer"
          className="inline-flex items-center gap-1 underline underline-offset-2"
        >
          {source.url}
          <ExternalLink size={14} className="flex-none" aria-hidden />
        </a>
      )}
      {around.map(
        ([label, part]) =>
          part && (
            <Link
              key={label}
              to="/app/kb/$doc"
              params={{ doc: part.id }}
              className="underline underline-offset-2"
            >
              {t(label)}
            </Link>
          ),
      )}
    </span>
  )
}

function Text({ doc }: { readonly doc: KbDocResponse }) {
  const { t } = useI18n()
  const { hash } = useLocation()
  const { id } = doc
  const asked = /^\d{1,9}$/.test(hash) ? Number(hash) : null
  const isThere = asked !== null && asked < doc.chunk_count
  return (
    <div className="grid grid-cols-1 items-start gap-6 lg:grid-cols-[3fr_2fr]">
      <aside className="grid grid-cols-1 gap-4 lg:order-last">
        <FactsOf doc={doc} />
        <PagePicker docId={id} />
        <Cited docId={id} />
      </aside>
      <div className="grid grid-cols-1 gap-4">
        {asked !== null && !isThere && <Notice tone="warn">{t('kb.passage.gone')}</Notice>}
        <Passages key={`${id}#${hash}`} docId={id} seq={isThere ? asked : null} />
      </div>
    </div>
  )
}

/** Those of its file or page, or its own. */
function FactsOf({ doc }: { readonly doc: KbDocResponse }) {
  const source = useSource(doc.source_id).data
  const parts = useParts(doc.source_id).data?.docs
  if (doc.source_id === null) return <Facts item={{ kind: 'doc', doc }} />
  if (!source || !parts) return null
  const cited_7d = parts.reduce((sum, part) => sum + part.cited_7d, 0)
  return <Facts item={{ kind: 'source', source: { ...source, doc_id: doc.id, cited_7d } }} />
}
