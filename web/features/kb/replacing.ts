import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { reload } from '../../lib/reload.ts'
import { useToasts } from '../../lib/services.tsx'
import { type Item, idOf, itemsOf, type Library, remove } from './library.ts'

/** Which item each new source replaces; kept until the browser tab closes. */
const SAVED = 'mb.kb.replaces'

type Replacements = Readonly<Record<string, string>>

function read(): Replacements {
  try {
    return JSON.parse(sessionStorage.getItem(SAVED) ?? '{}') as Replacements
  } catch {
    return {}
  }
}

const write = (all: Replacements) => sessionStorage.setItem(SAVED, JSON.stringify(all))

export const noteReplacement = (sourceId: string, old: Item): void =>
  write({ ...read(), [sourceId]: idOf(old) })

function forget(sourceId: string): void {
  const { [sourceId]: _gone, ...others } = read()
  write(others)
}

/** The item that a failed source should have replaced, for another attempt. */
export function replacedBy(sourceId: string, items: readonly Item[]): Item | null {
  const id = read()[sourceId]
  return items.find((item) => idOf(item) === id) ?? null
}

/** Deletes what was replaced as soon as the new source is ready. */
export function useReplacing(library: Library | undefined): void {
  const client = useQueryClient()
  const toasts = useToasts()
  const { t } = useI18n()
  useEffect(() => {
    if (!library) return
    const items = itemsOf(library)
    for (const sourceId of Object.keys(read())) {
      const source = library.sources.find(({ id }) => id === sourceId)
      if (source && source.state !== 'ready') continue
      const old = source ? replacedBy(sourceId, items) : null
      forget(sourceId)
      if (!old) continue
      void remove(old).then(
        () => {
          toasts.show('good', t('kb.replaced'))
          void reload(client, ['kb'])
        },
        (error: Error) => toasts.show('bad', error),
      )
    }
  }, [library, client, toasts, t])
}
