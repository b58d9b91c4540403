import { Fragment, type ReactNode } from 'react'
import type { ListedSource as Source } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { withIndexKeys } from '../../lib/index-keys.ts'
import { sizeOf } from '../../lib/sizes.ts'
import { Ago } from '../../ui/page.tsx'
import type { Item } from './library.ts'

/** The names of kinds of files, by the end of their media type. */
const KINDS: readonly (readonly [string, string])[] = [
  ['/pdf', 'PDF'],
  ['.document', 'Word'],
  ['.presentation', 'PowerPoint'],
  ['.sheet', 'Excel'],
  ['/epub+zip', 'EPUB'],
  ['/html', 'HTML'],
  ['/csv', 'CSV'],
  ['/tab-separated-values', 'TSV'],
  ['/markdown', 'Markdown'],
  ['/png', 'PNG'],
  ['/jpeg', 'JPEG'],
  ['/webp', 'WebP'],
]

const kindOf = ({ media_type }: Source) => KINDS.find(([end]) => media_type.endsWith(end))?.[1]

const isPicture = ({ media_type }: Source) => media_type.startsWith('image/')

const isSlides = ({ media_type }: Source) => media_type.endsWith('.presentation')

function useFacts(item: Item): ReactNode[] {
  const { t, locale } = useI18n()
  const chars = (count: number) => t('kb.fact.chars', { count: count.toLocaleString(locale) })
  const cited = (count: number) =>
    count > 0 && t('kb.fact.cited', { count: count.toLocaleString(locale) })
  if (item.kind === 'doc') {
    const { char_count, chunk_count, created_at } = item.doc
    const passages = t('kb.fact.passages', { count: chunk_count })
    return [
      t('kb.kind.typed'),
      chars(char_count),
      passages,
      cited(item.doc.cited_7d),
      <Ago key="at" at={created_at} />,
    ].filter(Boolean)
  }
  const { source } = item
  const { bytes, pages, ocr_pages, pages_unread = 0, parts, char_count, created_at } = source
  const hasPages = pages !== null && !isPicture(source)
  return [
    source.url === null ? (kindOf(source) ?? t('kb.kind.text')) : t('kb.kind.page'),
    source.url !== null && new URL(source.url).host !== source.title && new URL(source.url).host,
    hasPages && t(isSlides(source) ? 'kb.fact.slides' : 'kb.fact.pages', { count: pages }),
    ocr_pages > 0 && hasPages && t('kb.fact.ocr', { count: ocr_pages }),
    pages_unread > 0 && t('kb.fact.unread', { count: pages_unread }),
    bytes > 0 && sizeOf(bytes, locale),
    char_count > 0 && chars(char_count),
    parts > 1 && t('kb.fact.parts', { count: parts }),
    cited(source.cited_7d),
    source.kind === 'file' && <Ago key="at" at={created_at} />,
    ...checksOf(source, t),
  ].filter(Boolean)
}

function checksOf(source: Source, t: ReturnType<typeof useI18n>['t']): ReactNode[] {
  const { checked_at, changed_at, refresh } = source
  return [
    refresh !== null && refresh !== 'off' && t(`kb.refresh.${refresh}`),
    checked_at !== null && (
      <Fragment key="checked">
        {t('kb.fact.checked')} <Ago at={checked_at} />
      </Fragment>
    ),
    changed_at !== null && (
      <Fragment key="changed">
        {t('kb.fact.changed')} <Ago at={changed_at} />
      </Fragment>
    ),
  ]
}

/** What the list says about an item in one line. */
export function Facts({ item }: { readonly item: Item }) {
  const facts = useFacts(item)
  return (
    <p className="text-small text-ink-3">
      {withIndexKeys(facts).map(({ key, item: fact }) => (
        <Fragment key={key}>
          {key !== '0' && ' · '}
          {fact}
        </Fragment>
      ))}
    </p>
  )
}
