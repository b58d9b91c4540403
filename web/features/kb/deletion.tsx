import { useQueryClient } from '@tanstack/react-query'
import type { ChosenItem } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { reload } from '../../lib/reload.ts'
import { useAction } from '../../lib/services.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { remove } from './library.ts'

interface DeletionProps {
  /** When empty, the dialog is closed. */
  readonly items: readonly ChosenItem[]
  /** Deletes more than one: the dialog waits for a single item only. */
  readonly onSeveral: (items: readonly ChosenItem[]) => void
  /** Called when one was deleted. */
  readonly onDone: () => void
  readonly onClose: () => void
}

/** Asks before deleting: shows how many items they are, and what is deleted with them. */
export function Deletion({ items, onSeveral, onDone, onClose }: DeletionProps) {
  const { t, locale } = useI18n()
  const number = (count: number) => count.toLocaleString(locale)
  const client = useQueryClient()
  const removeOne = async (item: ChosenItem) => {
    try {
      await remove(item)
    } finally {
      await reload(client, ['kb'])
      onClose()
    }
  }
  const action = useAction(removeOne, { done: 'kb.deleted', onDone })
  const confirm = () => {
    if (items.length === 1 && first) return action.mutate(first)
    onSeveral(items)
    onClose()
  }
  const [first] = items
  const title =
    items.length > 1
      ? t('kb.delete.several', { count: number(items.length) })
      : t('kb.delete.title', { title: first ? first.title : '' })
  return (
    <Confirm
      title={title}
      loss={useLoss(items)}
      action={
        items.length > 1 ? t('kb.delete.go', { count: number(items.length) }) : t('action.delete')
      }
      open={items.length > 0}
      busy={action.isPending}
      onConfirm={confirm}
      onClose={onClose}
    />
  )
}

function useLoss(items: readonly ChosenItem[]): string {
  const { t, locale } = useI18n()
  const [first] = items
  if (items.length === 1 && first?.kind === 'doc') return t('kb.delete.loss')
  const parts = items.reduce((sum, item) => sum + item.parts, 0)
  if (parts === 0) return t('kb.delete.loss.unread')
  const chars = items.reduce((sum, { char_count }) => sum + char_count, 0).toLocaleString(locale)
  const key = items.length > 1 ? 'kb.delete.loss.several' : 'kb.delete.loss.source'
  return t(key, { parts: parts.toLocaleString(locale), chars })
}
