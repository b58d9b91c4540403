import { type QueryClient, skipToken, useQuery, useQueryClient } from '@tanstack/react-query'
import { ApiError } from '../../api/client.ts'
import type { ChosenItem } from '../../api/types.ts'
import type { Key } from '../../i18n/index.tsx'
import { useI18n } from '../../i18n/index.tsx'
import { reload } from '../../lib/reload.ts'
import { SIGNED_OUT, useToasts } from '../../lib/services.tsx'

/** What is done with several items, one after another. */
export interface Bulk {
  readonly act: 'move' | 'check' | 'delete'
  readonly items: readonly ChosenItem[]
  readonly work: (item: ChosenItem) => Promise<unknown>
  /** How many items it was tried with. */
  readonly tried: number
  readonly failures: readonly { readonly item: ChosenItem; readonly error: unknown }[]
  readonly state: 'running' | 'stopping' | 'ended'
}

/** Kept in the query client, so that it goes on while another page is open. */
const BULK = ['bulk']

const read = (client: QueryClient) => client.getQueryData<Bulk | null>(BULK) ?? null
const write = (client: QueryClient, bulk: Bulk | null) => client.setQueryData(BULK, bulk)

/** What somebody else has deleted first is deleted. */
const isGone = (error: unknown) => error instanceof ApiError && error.status === 404

const warn = (event: Event) => event.preventDefault()

/** Does the next item, and so on: a failure of one keeps none of the others. */
async function goOn(client: QueryClient): Promise<void> {
  const bulk = read(client)
  const item = bulk?.items[bulk.tried]
  if (!bulk || !item || bulk.state !== 'running') return
  const failure = await bulk.work(item).then(
    () => null,
    (error: unknown) => (bulk.act === 'delete' && isGone(error) ? null : { item, error }),
  )
  const now = read(client) ?? bulk
  const failures = failure ? [...now.failures, failure] : now.failures
  // Without a session no other item would be done.
  const isOut = failure?.error instanceof ApiError && failure.error.status === SIGNED_OUT
  write(client, { ...now, failures, tried: now.tried + 1, state: isOut ? 'stopping' : now.state })
  await goOn(client)
}

async function run(client: QueryClient, more: Pick<Bulk, 'act' | 'items' | 'work'>) {
  write(client, { ...more, tried: 0, failures: [], state: 'running' })
  addEventListener('beforeunload', warn)
  await goOn(client)
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

/** What this tab does with several items; one thing at a time. */
export function useBulk() {
  const { t } = useI18n()
  const client = useQueryClient()
  const toasts = useToasts()
  const { data: bulk = null } = useQuery<Bulk | null>({
    queryKey: BULK,
    queryFn: skipToken,
    initialData: () => read(client),
    staleTime: Infinity,
    gcTime: Infinity,
    structuralSharing: false,
  })

  async function start(act: Bulk['act'], items: readonly ChosenItem[], work: Bulk['work']) {
    const state = read(client)?.state
    if (state === 'running' || state === 'stopping') return
    if (await run(client, { act, items, work })) toasts.show('good', t(DONE[act]))
  }

  return {
    bulk,
    start,
    /** The item that is being worked on is finished, and no other is begun. */
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

export type BulkActs = ReturnType<typeof useBulk>
