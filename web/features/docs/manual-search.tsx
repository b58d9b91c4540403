import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useId } from 'react'
import { GUIDE_IDS, type GuideId, guidePath } from '../../guides/pages.ts'
import { readGuide } from '../../guides/read.ts'
import { useI18n } from '../../i18n/index.tsx'
import { withIndexKeys } from '../../lib/index-keys.ts'
import { Page } from '../../ui/page.tsx'
import { Loaded } from '../../ui/state.tsx'
import { partsOf } from './guide-parts.ts'
import { entriesOf, type Hit, search } from './search.ts'

interface SearchProps {
  readonly query: string
  readonly onQuery: (query: string) => void
}

/** The field of the search in the manual. */
export function ManualSearch({ query, onQuery }: SearchProps) {
  const { t } = useI18n()
  const id = useId()
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
        onChange={(event) => onQuery(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onQuery('')
        }}
      />
    </search>
  )
}

interface FoundProps {
  readonly query: string
  readonly onOpen: () => void
}

/** What the query finds in the current language. Its first use loads all pages. */
export function Found({ query, onOpen }: FoundProps) {
  const { t, language } = useI18n()
  const manual = useQuery({
    queryKey: ['manual', language],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => {
      const pages = GUIDE_IDS.map(async (page) =>
        entriesOf(page, t(`guide.${page}`), partsOf(await readGuide(page, language))),
      )
      return (await Promise.all(pages)).flat()
    },
  })
  return (
    <Loaded query={manual} rows={8}>
      {(entries) => <Hits query={query} hits={search(entries, query)} onOpen={onOpen} />}
    </Loaded>
  )
}

interface HitsProps extends FoundProps {
  readonly hits: readonly Hit<GuideId>[]
}

function Hits({ query, hits, onOpen }: HitsProps) {
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
