import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { ApiError } from '../../api/client.ts'
import { libraryApi } from '../../api/library.ts'
import type { ChosenItem } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { keep, tabStorage } from '../../lib/kept.ts'
import { reload } from '../../lib/reload.ts'
import { useToasts } from '../../lib/services.tsx'
import { remove } from './library.ts'

/** Which item each new source replaces; kept until the browser tab closes. */
const SAVED = 'mb.kb.replaced'

const POLL_MS = 1_200

export type Replaced = Pick<ChosenItem, 'kind' | 'id'>
type Replacements = Readonly<Record<string, Replaced>>

function read(): Replacements {
  try {
    return JSON.parse(tabStorage.getItem(SAVED) ?? '{}') as Replacements
  } catch {
    return {}
  }
}

const write = (all: Replacements) => keep(SAVED, JSON.stringify(all), tabStorage)

export const noteReplacement = (sourceId: string, { kind, id }: Replaced): void =>
  write({ ...read(), [sourceId]: { kind, id } })

function forget(sourceId: string): void {
  const { [sourceId]: _gone, ...others } = read()
  write(others)
}

/** The item that a failed source should have replaced, for another attempt. */
export const replacedBy = (sourceId: string): Replaced | null => read()[sourceId] ?? null

const isGone = (error: unknown) => error instanceof ApiError && error.status === 404

/** The states of the sources that replace others; null of one that is gone. */
const statesOf = () =>
  Promise.all(
    Object.keys(read()).map(async (id) => {
      try {
        return { id, state: (await libraryApi.source(id)).state }
      } catch (error) {
        if (isGone(error)) return { id, state: null }
        throw error
      }
    }),
  )

/** Deletes what was replaced as soon as the new source is ready. */
export function useReplacing(): void {
  const client = useQueryClient()
  const toasts = useToasts()
  const { t } = useI18n()
  const { data } = useQuery({
    queryKey: ['kb', 'replacing'],
    queryFn: statesOf,
    refetchInterval: ({ state }) =>
      state.data?.some((one) => one.state !== 'ready' && one.state !== 'failed') ? POLL_MS : false,
  })
  useEffect(() => {
    for (const { id, state } of data ?? []) {
      const old = replacedBy(id)
      if (!old || (state !== null && state !== 'ready')) continue
      forget(id)
      if (state === null) continue
      void remove(old).then(
        () => {
          toasts.show('good', t('kb.replaced'))
          void reload(client, ['kb'])
        },
        // What somebody else has deleted first is replaced, too.
        (error: Error) => isGone(error) || toasts.show('bad', error),
      )
    }
  }, [data, client, toasts, t])
}
