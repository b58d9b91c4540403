import { Link, useLocation, useParams } from '@tanstack/react-router'
import { BookText, ChevronLeft, ExternalLink } from 'lucide-react'
import { Cited } from '../features/kb/cited.tsx'
import { Facts } from '../features/kb/facts.tsx'
import { docsOf, itemsOf, type Library, useLibrary } from '../features/kb/library.ts'
import { PagePicker } from '../features/kb/page-picker.tsx'
import { Passages } from '../features/kb/passages.tsx'
import { useI18n } from '../i18n/index.tsx'
import { Notice, Page } from '../ui/page.tsx'
import { Empty, Loaded } from '../ui/state.tsx'

/** A document, opened at the passage that the address names: `/app/kb/{doc_id}#{seq}`. */
export function KbDocPage() {
  const { t } = useI18n()
  const { doc: id = '' }: { doc?: string } = useParams({ strict: false })
  const query = useLibrary()
  const doc = query.data?.docs.find((one) => one.id === id)
  const actions = (
    <Link to="/app/kb" className="btn">
      <ChevronLeft size={16} aria-hidden />
      {t('nav.kb')}
    </Link>
  )
  return (
    <Page
      title={doc?.title ?? t('kb.doc')}
      about={query.data && <About library={query.data} id={id} />}
      actions={actions}
    >
      <Loaded query={query}>{(library) => <Text library={library} id={id} />}</Loaded>
    </Page>
  )
}

interface DocProps {
  readonly library: Library
  readonly id: string
}

/** The source of the document, and links to its other parts. */
function About({ library, id }: DocProps) {
  const { t } = useI18n()
  const item = itemsOf(library).find(
    (one) => one.kind === 'source' && one.parts.some((part) => part.id === id),
  )
  if (item?.kind !== 'source') return null
  const { source, parts } = item
  const at = parts.findIndex((part) => part.id === id)
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

function Text({ library, id }: DocProps) {
  const { t } = useI18n()
  const { hash } = useLocation()
  const doc = library.docs.find((one) => one.id === id)
  if (!doc) {
    return <Empty icon={<BookText />} title={t('kb.doc.gone')} text={t('kb.doc.gone.text')} />
  }
  const asked = /^\d{1,9}$/.test(hash) ? Number(hash) : null
  const isThere = asked !== null && asked < doc.chunk_count
  const item = itemsOf(library).find((one) => docsOf(one).includes(doc))
  return (
    <div className="grid grid-cols-1 items-start gap-6 lg:grid-cols-[3fr_2fr]">
      <aside className="grid grid-cols-1 gap-4 lg:order-last">
        {item && <Facts item={item} />}
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
