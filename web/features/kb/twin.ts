import { useQuery } from '@tanstack/react-query'
import { libraryApi } from '../../api/library.ts'
import { type Item, itemsOf } from './library.ts'

/** An item with this title or address; null where there is none, or while it is looked for. */
export function useTwin(by: { readonly title: string } | { readonly url: string }): Item | null {
  const [what] = Object.values(by)
  const query = useQuery({
    queryKey: ['kb', 'twin', by],
    queryFn: () => libraryApi.page({ ...by, limit: '1' }),
    enabled: what !== '',
    retry: false,
  })
  return (query.data && itemsOf(query.data)[0]) ?? null
}
