import { clampedLimit } from '../core/fields.ts'
import { LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX } from '../core/limits/contract.ts'
import { queryDoc } from './openapi-parts.ts'

/** Which part of a list is asked for: `limit` items, older than the cursor `before`. */
export function pageOf({ url }: Request) {
  const query = new URL(url).searchParams
  const limit = clampedLimit(query.get('limit'), LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX)
  return { before: query.get('before') || null, limit }
}

/** Documents both for a list of `items`. */
export const pageDoc = (items: string) =>
  queryDoc({
    limit: `${items} returned, 1 to ${LIST_LIMIT_MAX}; default ${LIST_LIMIT_DEFAULT}`,
    before: 'next_before of the page before',
  })
