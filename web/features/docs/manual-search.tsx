import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useEffect, useId, useState } from 'react'
import { GUIDE_IDS, type GuideId, guidePath } from '../../guides/pages.ts'
import { readGuide } from '../../guides/read.ts'
import { useI18n } from '../../i18n/index.tsx'
import { withIndexKeys } from '../../lib/index-keys.ts'
import { Page } from '../../ui/page.tsx'
import { partsOf } from './guide-parts.ts'
import { entriesOf, type Hit, search } from './search.ts'

interface SearchProps {
  /** Receives the results, which replace the page; null without a query. */
  readonly onFound: (found: ReactNode) => void
}

/** Searches the manual in the current language. Its first use loads all pages. */
export function ManualSearch({ onFound }: SearchProps) {
  const { t, language } = useI18n()
  const id = useId()
  const [query, setQuery] = useState('')
  const wanted = query.trim()
  const manual = useQuery({
    queryKey: ['manual', language],
    enabled: wanted !== '',
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => {
      const pages = GUIDE_IDS.map(async (page) =>
        entriesOf(page, t(`guide.${page}`), partsOf(await readGuide(page, language))),
      )
      return (await Promise.all(pages)).flat()
    },
  })
  const { data } = manual
  useEffect(() => {
    if (wanted === '' || !data) return onFound(null)
    onFound(<Found query={wanted} hits={search(data, wanted)} onOpen={() => setQuery('')} />)
  }, [wanted, data, onFound])
  return (
    <search>
      <label htmlFor={id} className="sr-only">
        {t('docs.search')}
      </label>
      <input
        id={id}
        type="search"
        className="input"
        placeholder={t('docs.search')}
        value={query}
        onChange={(event) => setQuery(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') setQuery('')
        }}
      />
    </search>
  )
}

interface FoundProps {
  readonly query: string
  readonly hits: readonly Hit<GuideId>[]
  readonly onOpen: () => void
}

function Found({ query, hits, onOpen }: FoundProps) {
  const { t } = useI18n()
  const count = t(hits.length === 0 ? 'docs.found.none' : 'docs.found', { count: hits.length })
  return (
    <Page title={query} about={<span role="status">{count}</span>}>
      <ol className="grid max-w-3xl gap-5">
        {withIndexKeys(hits).map(({ key, item: { page, part, name, heading, excerpt } }) => (
          <li key={key}>
            <Link to={guidePath(page)} hash={part} onClick={onOpen} className="text-accent">
              {heading === '' ? name : `${name}: ${heading}`}
            </Link>
            <p className="text-note text-ink-2">
              {withIndexKeys(excerpt).map(({ key: place, item }, index) =>
                index % 2 === 1 ? <mark key={place}>{item}</mark> : item,
              )}
            </p>
          </li>
        ))}
      </ol>
    </Page>
  )
}
