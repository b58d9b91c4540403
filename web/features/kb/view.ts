import { useNavigate, useSearch } from '@tanstack/react-router'
import type { LibrarySort, LibraryState } from '../../api/types.ts'

/** Which part of the knowledge base is shown. */
export interface View {
  /** Words of the title. */
  readonly q: string
  /** Null: of all collections. */
  readonly collection: string | null
  readonly state: LibraryState | ''
  readonly sort: LibrarySort
  /** From 0. */
  readonly page: number
}

export const SORTS = ['newest', 'oldest', 'title', 'largest'] as const
export const STATES = ['', 'work', 'failed'] as const

type Search = Readonly<Record<string, unknown>>

const wordOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : ''

function viewOf({ q, collection, state, sort, page }: Search): View {
  const number = Number(wordOf(page))
  return {
    q: wordOf(q),
    collection: wordOf(collection) || null,
    state: STATES.find((one) => one === state) ?? '',
    sort: SORTS.find((one) => one === sort) ?? 'newest',
    page: Number.isSafeInteger(number) && number > 1 ? number - 1 : 0,
  }
}

/** The address has what differs from the whole; its pages are counted from 1. */
function searchOf(view: View): Search {
  const { q, collection, state, sort, page } = view
  return {
    ...(q === '' ? {} : { q }),
    ...(collection === null ? {} : { collection }),
    ...(state === '' ? {} : { state }),
    ...(sort === 'newest' ? {} : { sort }),
    ...(page === 0 ? {} : { page: page + 1 }),
  }
}

/** The view stands in the address: a document leads back to it, and a reload keeps it. */
export function useView() {
  const view = viewOf(useSearch({ strict: false }))
  const navigate = useNavigate()
  const show = (more: Partial<View>) => {
    const search = searchOf({ ...view, page: 0, ...more })
    void navigate({ to: '/app/kb', search, replace: true, resetScroll: false })
  }
  return { view, show }
}
