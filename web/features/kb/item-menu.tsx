import * as Menu from '@radix-ui/react-dropdown-menu'
import { Check, ExternalLink, FileUp, Pencil, RotateCw, Trash2 } from 'lucide-react'
import type { ListedSource, Refresh } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { type RowAction, RowMenu } from '../../ui/row-menu.tsx'
import { collectionOf, NO_COLLECTION, useCollections } from './collections.ts'
import { type Item, isInWork, titleOf } from './library.ts'
import { REFRESHES } from './page-dialog.tsx'

export interface ItemActions {
  readonly onDelete: (item: Item) => void
  readonly onRename: (item: Item) => void
  readonly onReplace: (item: Item) => void
  readonly onSendAgain: (item: Item) => void
  readonly onCheck: (source: ListedSource) => void
  readonly onMove: (item: Item, to: string) => void
  readonly onRefresh: (source: ListedSource, refresh: Refresh) => void
}

interface ItemMenuProps {
  readonly item: Item
  readonly actions: ItemActions
}

const icon = { size: 15, 'aria-hidden': true } as const

export function ItemMenu({ item, actions }: ItemMenuProps) {
  const { t } = useI18n()
  const source = item.kind === 'source' ? item.source : null
  const isIdle = source === null || !isInWork(source)
  const entries: RowAction[] = [
    { label: t('action.delete'), icon: Trash2, act: () => actions.onDelete(item), isLoss: true },
  ]
  if (isIdle && source?.kind !== 'url') {
    entries.unshift({ label: t('kb.replace'), icon: FileUp, act: () => actions.onReplace(item) })
  } else if (isIdle && source) {
    entries.unshift({ label: t('kb.check'), icon: RotateCw, act: () => actions.onCheck(source) })
  }
  entries.unshift({ label: t('kb.rename'), icon: Pencil, act: () => actions.onRename(item) })
  return (
    <RowMenu label={t('kb.actions', { title: titleOf(item) })} actions={entries}>
      {source?.kind === 'url' && <PageEntries source={source} onRefresh={actions.onRefresh} />}
      <MoveEntries item={item} onMove={actions.onMove} />
    </RowMenu>
  )
}

/** Chooses the collection of an item, where there are any. */
function MoveEntries({ item, onMove }: { item: Item; onMove: ItemActions['onMove'] }) {
  const { t } = useI18n()
  const collections = useCollections()
  if (collections.length === 0) return null
  const choices = [{ id: NO_COLLECTION, name: t('kb.collections.none') }, ...collections]
  return (
    <>
      <Menu.Label className="menu-label">{t('kb.collections.move')}</Menu.Label>
      <Menu.RadioGroup value={collectionOf(item)} onValueChange={(to) => onMove(item, to)}>
        {choices.map(({ id, name }) => (
          <Menu.RadioItem key={id} value={id} className="menu-item">
            <span className="w-4 flex-none">
              <Menu.ItemIndicator>
                <Check {...icon} />
              </Menu.ItemIndicator>
            </span>
            <span className="min-w-0 wrap-anywhere">{name}</span>
          </Menu.RadioItem>
        ))}
      </Menu.RadioGroup>
      <Menu.Separator className="my-1 h-px bg-line" />
    </>
  )
}

interface PageEntriesProps {
  readonly source: ListedSource
  readonly onRefresh: ItemActions['onRefresh']
}

/** Entries for web pages only. */
function PageEntries({ source, onRefresh }: PageEntriesProps) {
  const { t } = useI18n()
  return (
    <>
      <Menu.Item className="menu-item" asChild>
        <a href={source.url ?? ''} target="_blank" rel="noreferrer">
          <ExternalLink {...icon} />
          {t('kb.page.open')}
        </a>
      </Menu.Item>
      <Menu.Label className="menu-label">{t('kb.refresh')}</Menu.Label>
      <Menu.RadioGroup
        value={source.refresh ?? 'off'}
        onValueChange={(value) => onRefresh(source, value as Refresh)}
      >
        {REFRESHES.map((value) => (
          <Menu.RadioItem key={value} value={value} className="menu-item">
            <span className="w-4 flex-none">
              <Menu.ItemIndicator>
                <Check {...icon} />
              </Menu.ItemIndicator>
            </span>
            {t(`kb.refresh.${value}`)}
          </Menu.RadioItem>
        ))}
      </Menu.RadioGroup>
      <Menu.Separator className="my-1 h-px bg-line" />
    </>
  )
}
