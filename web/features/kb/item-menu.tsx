import * as Menu from '@radix-ui/react-dropdown-menu'
import { Check, Ellipsis, ExternalLink, FileUp, RotateCw, Trash2 } from 'lucide-react'
import { type ReactNode, useRef } from 'react'
import type { Refresh, Source } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { type Item, isInWork, titleOf } from './library.ts'
import { REFRESHES } from './page-dialog.tsx'

export interface ItemActions {
  readonly onDelete: (item: Item) => void
  readonly onReplace: (item: Item) => void
  readonly onSendAgain: (item: Item) => void
  readonly onCheck: (source: Source) => void
  readonly onRefresh: (source: Source, refresh: Refresh) => void
}

interface ItemMenuProps {
  readonly item: Item
  readonly actions: ItemActions
}

const icon = { size: 15, 'aria-hidden': true } as const

export function ItemMenu({ item, actions }: ItemMenuProps) {
  const { t } = useI18n()
  const trigger = useRef<HTMLButtonElement>(null)
  // The menu closes before a dialog opens, so the focus returns to this button.
  const pick = (act: () => void) => () => {
    trigger.current?.focus()
    act()
  }
  const source = item.kind === 'source' ? item.source : null
  return (
    <Menu.Root modal={false}>
      <Menu.Trigger
        ref={trigger}
        className="btn self-start"
        data-kind="quiet"
        data-size="small"
        data-shape="icon"
        aria-label={t('kb.actions', { title: titleOf(item) })}
      >
        <Ellipsis size={16} aria-hidden />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Content className="menu" align="end" sideOffset={4}>
          {source?.kind === 'url' && <PageItems source={source} actions={actions} pick={pick} />}
          {(source === null || (source.kind === 'file' && !isInWork(source))) && (
            <Entry icon={<FileUp {...icon} />} onSelect={pick(() => actions.onReplace(item))}>
              {t('kb.replace')}
            </Entry>
          )}
          <Entry icon={<Trash2 {...icon} />} onSelect={pick(() => actions.onDelete(item))}>
            {t('action.delete')}
          </Entry>
        </Menu.Content>
      </Menu.Portal>
    </Menu.Root>
  )
}

interface PageItemsProps {
  readonly source: Source
  readonly actions: ItemActions
  readonly pick: (act: () => void) => () => void
}

function PageItems({ source, actions, pick }: PageItemsProps) {
  const { t } = useI18n()
  return (
    <>
      <Menu.Item className="menu-item" asChild>
        <a href={source.url ?? ''} target="_blank" rel="noreferrer">
          <ExternalLink {...icon} />
          {t('kb.page.open')}
        </a>
      </Menu.Item>
      {!isInWork(source) && (
        <Entry icon={<RotateCw {...icon} />} onSelect={pick(() => actions.onCheck(source))}>
          {t('kb.check')}
        </Entry>
      )}
      <Menu.Label className="menu-label">{t('kb.refresh')}</Menu.Label>
      <Menu.RadioGroup
        value={source.refresh ?? 'off'}
        onValueChange={(value) => actions.onRefresh(source, value as Refresh)}
      >
        {REFRESHES.map((value) => (
          <Menu.RadioItem key={value} value={value} className="menu-item">
            <span className="w-4">
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

interface EntryProps {
  readonly icon: ReactNode
  readonly children: ReactNode
  readonly onSelect: () => void
}

const Entry = ({ icon: symbol, children, onSelect }: EntryProps) => (
  <Menu.Item className="menu-item" onSelect={onSelect}>
    {symbol}
    {children}
  </Menu.Item>
)
