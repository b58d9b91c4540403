import * as Menu from '@radix-ui/react-dropdown-menu'
import { Ellipsis, type LucideIcon } from 'lucide-react'
import { type ReactNode, useRef } from 'react'

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
    <Menu.Root modal={false}>
      <Menu.Trigger
        className="btn"
        data-kind="quiet"
        data-size="small"
        data-shape="icon"
        tabIndex={isStop ? 0 : -1}
        aria-label={label}
      >
        <Ellipsis size={16} aria-hidden />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Content
          className="menu"
          align="end"
          sideOffset={4}
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
        </Menu.Content>
      </Menu.Portal>
    </Menu.Root>
  )
}
