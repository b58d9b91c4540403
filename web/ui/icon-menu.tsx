import * as Menu from '@radix-ui/react-dropdown-menu'
import type { ReactNode, RefObject } from 'react'

type Content = Menu.DropdownMenuContentProps
type Placing = Pick<Content, 'align' | 'collisionPadding' | 'onCloseAutoFocus'>

interface IconMenuProps extends Placing {
  readonly label: string
  readonly icon: ReactNode
  readonly children: ReactNode
  readonly trigger?: RefObject<HTMLButtonElement | null>
  /** Classes of the button and of the menu, besides their own. */
  readonly classes?: { readonly button: string; readonly menu: string }
  /** False where arrow keys, and not the Tab key, lead to the menu. */
  readonly isStop?: boolean
}

/** A menu behind a small button that is only a picture. */
export function IconMenu(props: IconMenuProps) {
  const { label, icon, children, trigger, classes, isStop = true, ...placing } = props
  return (
    <Menu.Root modal={false}>
      <Menu.Trigger
        ref={trigger}
        className={`btn ${classes?.button ?? ''}`}
        data-kind="quiet"
        data-size="small"
        data-shape="icon"
        tabIndex={isStop ? 0 : -1}
        aria-label={label}
      >
        {icon}
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Content className={`menu ${classes?.menu ?? ''}`} sideOffset={4} {...placing}>
          {children}
        </Menu.Content>
      </Menu.Portal>
    </Menu.Root>
  )
}
