import { type QueryClient, skipToken, useQuery, useQueryClient } from '@tanstack/react-query'
import { ApiError } from '../../api/client.ts'
import type { ChosenItem } from '../../api/types.ts'
import type { Key } from '../../i18n/index.tsx'
import { useI18n } from '../../i18n/index.tsx'
import { reload } from '../../lib/reload.ts'
import { SIGNED_OUT, useToasts } from '../../lib/services.tsx'

/** What is done with several items, a few at once. */
export interface Bulk {
  readonly act: 'move' | 'check' | 'delete'
  readonly items: readonly ChosenItem[]
  readonly work: (item: ChosenItem) => Promise<unknown>
  /** How many items it was tried with. */
  readonly tried: number
  readonly failures: readonly { readonly item: ChosenItem; readonly error: unknown }[]
  readonly state: 'running' | 'stopping' | 'ended'
  /** Items that wait because the server takes no more for now. */
  readonly limited: number
}

/** Kept in the query client, so that it goes on while another page is open. */
const BULK = ['bulk']

const read = (client: QueryClient) => client.getQueryData<Bulk | null>(BULK) ?? null
const write = (client: QueryClient, bulk: Bulk | null) => client.setQueryData(BULK, bulk)

/** What somebody else has deleted first is deleted. */
const isGone = (error: unknown) => statusOf(error) === 404

const TOO_MANY = 429

const warn = (event: Event) => event.preventDefault()

/** Items that are worked on at once: most of the time of one is its way to the server. */
const AT_ONCE = 4

/**
 * So many are not done faster than 2,400 a minute: the server takes 3,000 requests of one person,
 * who has other pages, too.
 */
const PACED_FROM = 1_500
const EACH_MS = 100

/** How long it waits where the server takes no more for now, as when two tabs are at work. */
const LIMITED_MS = 1_000

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

const statusOf = (error: unknown) => (error instanceof ApiError ? error.status : null)

/** Null when it is done. */
async function failureOf(client: QueryClient, { act, work }: Bulk, item: ChosenItem) {
  let limited = 0
  try {
    for (;;) {
      try {
        await work(item)
        return null
      } catch (error) {
        if (act === 'delete' && isGone(error)) return null
        if (statusOf(error) !== TOO_MANY || read(client)?.state !== 'running')
          return { item, error }
        if (limited === 0) limit(client, 1)
        limited = 1
        await pause(LIMITED_MS)
      }
    }
  } finally {
    if (limited > 0) limit(client, -1)
  }
}

function limit(client: QueryClient, by: 1 | -1): void {
  const bulk = read(client)
  if (bulk) write(client, { ...bulk, limited: bulk.limited + by })
}

/** Does one item after another: a failure of one keeps none of the others. */
async function goOn(client: QueryClient, left: IterableIterator<ChosenItem>): Promise<void> {
  const bulk = read(client)
  if (bulk?.state !== 'running') return
  const { value: item } = left.next()
  if (!item) return
  // In a tab that is not looked at a pause may take a minute.
  const isPaced = bulk.items.length >= PACED_FROM && !document.hidden
  const pace = isPaced ? pause(EACH_MS) : null
  const [failure] = await Promise.all([failureOf(client, bulk, item), pace])
  const now = read(client) ?? bulk
  const failures = failure ? [...now.failures, failure] : now.failures
  // Without a session no other item would be done.
  const isOut = statusOf(failure?.error) === SIGNED_OUT
  write(client, { ...now, failures, tried: now.tried + 1, state: isOut ? 'stopping' : now.state })
  await goOn(client, left)
}

async function run(client: QueryClient, more: Pick<Bulk, 'act' | 'items' | 'work'>) {
  write(client, { ...more, tried: 0, failures: [], state: 'running', limited: 0 })
  addEventListener('beforeunload', warn)
  const left = more.items.values()
  await Promise.all(Array.from({ length: AT_ONCE }, () => goOn(client, left)))
  removeEventListener('beforeunload', warn)
  const ended = read(client)
  const isDone = ended !== null && ended.failures.length === 0 && ended.tried === ended.items.length
  write(client, isDone || !ended ? null : { ...ended, state: 'ended' })
  await reload(client, ['kb'])
  return isDone
}

const DONE: Readonly<Record<Bulk['act'], Key>> = {
  move: 'kb.moved',
  check: 'kb.checked.several',
  delete: 'kb.deleted',
}

/** What a part of the page shows of it: the list is not drawn anew for each item. */
const useBulk = <Shown>(select: (bulk: Bulk | null) => Shown) => {
  const client = useQueryClient()
  const { data } = useQuery({
    queryKey: BULK,
    queryFn: skipToken,
    initialData: () => read(client),
    staleTime: Infinity,
    gcTime: Infinity,
    structuralSharing: false,
    select,
  })
  return data
}

const isBusyWith = (bulk: Bulk | null) => bulk?.state === 'running' || bulk?.state === 'stopping'

/** Begins what this tab does with several items; one thing at a time. */
export function useBulkStart() {
  const { t } = useI18n()
  const client = useQueryClient()
  const toasts = useToasts()
  return {
    isBusy: useBulk(isBusyWith) === true,
    async start(act: Bulk['act'], items: readonly ChosenItem[], work: Bulk['work']) {
      if (isBusyWith(read(client))) return
      if (await run(client, { act, items, work })) toasts.show('good', t(DONE[act]))
    },
  }
}

const whole = (bulk: Bulk | null) => bulk

/** How far it is. */
export function useBulkActs() {
  const client = useQueryClient()
  const { start } = useBulkStart()
  const bulk = useBulk(whole) ?? null
  return {
    bulk,
    /** The items that are being worked on are finished, and no others are begun. */
    stop: () => bulk && write(client, { ...bulk, state: 'stopping' }),
    /** Tries those that failed or were not reached once more. */
    async retry() {
      if (!bulk) return
      const failed = bulk.failures.map(({ item }) => item)
      await start(bulk.act, [...failed, ...bulk.items.slice(bulk.tried)], bulk.work)
    },
    close: () => write(client, null),
  }
}

export type BulkActs = ReturnType<typeof useBulkActs>
