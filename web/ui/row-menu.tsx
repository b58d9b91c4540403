import * as Menu from '@radix-ui/react-dropdown-menu'
import { Ellipsis, type LucideIcon } from 'lucide-react'
import { type ReactNode, useRef } from 'react'
import { IconMenu } from './icon-menu.tsx'

export interface RowAction {
  readonly label: string
  readonly icon: LucideIcon
  readonly act: () => void
  /** Whether the action deletes something. */
  readonly isLoss?: boolean
}

interface RowMenuProps {
  /** Must name the row, because a page has many such buttons. */
  readonly label: string
  readonly actions: readonly RowAction[]
  /** False where arrow keys, and not the Tab key, lead to the menu. */
  readonly isStop?: boolean
  /** Other entries, above the actions. */
  readonly children?: ReactNode
}

/** The menu of a row, behind three dots. */
export function RowMenu({ label, actions, isStop = true, children }: RowMenuProps) {
  const chosen = useRef<(() => void) | null>(null)
  return (
    <IconMenu
      label={label}
      icon={<Ellipsis size={16} aria-hidden />}
      isStop={isStop}
      align="end"
      onCloseAutoFocus={() => {
        // Behind this the focus returns to the button, and from there goes where the act wants.
        chosen.current?.()
        chosen.current = null
      }}
    >
      {children}
      {actions.map(({ label: name, icon: Icon, act, isLoss }) => (
        <Menu.Item
          key={name}
          className={`menu-item ${isLoss ? 'text-bad' : ''}`}
          onSelect={() => {
            chosen.current = act
          }}
        >
          <Icon size={15} aria-hidden />
          {name}
        </Menu.Item>
      ))}
    </IconMenu>
  )
}
