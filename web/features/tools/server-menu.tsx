import * as Menu from '@radix-ui/react-dropdown-menu'
import { Ellipsis, Pencil, Power, Trash2 } from 'lucide-react'
import { useRef } from 'react'
import type { McpServer } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'

export interface ServerMenuProps {
  readonly server: McpServer
  readonly onEdit: () => void
  readonly onDelete: () => void
  /** Turns it on, or off. */
  readonly onTurn: () => void
}

export function ServerMenu({ server, onEdit, onDelete, onTurn }: ServerMenuProps) {
  const { t } = useI18n()
  const trigger = useRef<HTMLButtonElement>(null)
  const icon = { size: 15, 'aria-hidden': true } as const
  const items = [
    ['action.edit', <Pencil key="edit" {...icon} />, onEdit],
    [server.enabled ? 'tools.turn.off' : 'tools.turn.on', <Power key="turn" {...icon} />, onTurn],
    ['action.delete', <Trash2 key="delete" {...icon} />, onDelete],
  ] as const
  return (
    <Menu.Root modal={false}>
      <Menu.Trigger
        ref={trigger}
        className="btn"
        data-kind="quiet"
        data-size="small"
        data-shape="icon"
        aria-label={t('tools.actions', { name: server.name })}
      >
        <Ellipsis size={16} aria-hidden />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Content className="menu" align="end" sideOffset={4}>
          {items.map(([label, symbol, act]) => (
            <Menu.Item
              key={label}
              className="menu-item"
              onSelect={() => {
                // The menu closes before its dialog, so the focus returns to this button.
                trigger.current?.focus()
                act()
              }}
            >
              {symbol}
              {t(label)}
            </Menu.Item>
          ))}
        </Menu.Content>
      </Menu.Portal>
    </Menu.Root>
  )
}
