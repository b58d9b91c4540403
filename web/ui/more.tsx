import { type ReactNode, useState } from 'react'
import { useI18n } from '../i18n/index.tsx'
import { Button } from './button.tsx'

interface MoreProps<Row> {
  readonly rows: readonly Row[]
  /** Rows shown at first, and added by each click: a browser takes a minute for 10,000. */
  readonly step: number
  readonly children: (shown: readonly Row[]) => ReactNode
}

/** The beginning of a long list, and a button for more of it. */
export function More<Row>({ rows, step, children }: MoreProps<Row>) {
  const { t, locale } = useI18n()
  const [count, setCount] = useState(step)
  const values = { shown: count.toLocaleString(locale), all: rows.length.toLocaleString(locale) }
  return (
    <>
      {children(rows.slice(0, count))}
      {rows.length > count && (
        <ListFoot>
          <Button kind="quiet" size="small" onClick={() => setCount(count + step)}>
            {t('list.more', values)}
          </Button>
        </ListFoot>
      )}
    </>
  )
}

/** The last line of a list, for a button. */
export const ListFoot = ({ children }: { readonly children: ReactNode }) => (
  <div className="border-t border-line p-3 text-center">{children}</div>
)

interface NextPageProps {
  readonly query: {
    readonly isFetchingNextPage: boolean
    readonly fetchNextPage: () => Promise<unknown>
  }
  readonly label: string
}

/** The button that loads the next page of a list. */
export const NextPage = ({ query, label }: NextPageProps) => (
  <Button
    kind="quiet"
    size="small"
    busy={query.isFetchingNextPage}
    onClick={() => void query.fetchNextPage()}
  >
    {label}
  </Button>
)
