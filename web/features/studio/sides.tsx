import { type ReactNode, useState, useSyncExternalStore } from 'react'
import { keep, kept } from '../../lib/kept.ts'
import { Drawer } from '../../ui/dialog.tsx'

/** Room for both sides and a text of 640 px. */
const WIDE = '(width >= 80rem)'
const ROOMY = '(width >= 100rem)'
const KEPT = 'mb.studio.right'

function subscribe(listener: () => void): () => void {
  const query = matchMedia(WIDE)
  query.addEventListener('change', listener)
  return () => query.removeEventListener('change', listener)
}

/** Whether the side stands beside the conversation; else it is a sheet over it. */
const useWide = () => useSyncExternalStore(subscribe, () => matchMedia(WIDE).matches)

export interface Side {
  readonly isOpen: boolean
  readonly isSheet: boolean
  readonly setOpen: (isOpen: boolean) => void
}

/** The right side, which folds away; the browser remembers that, except for a sheet. */
export function useRight(): Side {
  const isWide = useWide()
  const [isOpen, setOpen] = useState(() => {
    const before = kept(KEPT)
    return before === null ? matchMedia(ROOMY).matches : before === 'open'
  })
  const [isOver, setOver] = useState(false)
  return isWide
    ? {
        isOpen,
        isSheet: false,
        setOpen(next) {
          keep(KEPT, next ? 'open' : 'folded')
          setOpen(next)
        },
      }
    : { isOpen: isOver, isSheet: true, setOpen: setOver }
}

interface SideViewProps {
  readonly side: Side
  readonly label: string
  readonly children: ReactNode
}

/** The right side of the conversation: a column, or a sheet on a narrow screen. */
export function SideView({ side, label, children }: SideViewProps) {
  if (side.isSheet) {
    return (
      <Drawer
        title={label}
        open={side.isOpen}
        look="drawer at-right"
        onOpen={() => side.setOpen(true)}
        onClose={() => side.setOpen(false)}
      >
        <div className="side">{children}</div>
      </Drawer>
    )
  }
  return (
    side.isOpen && (
      <aside className="side" aria-label={label}>
        {children}
      </aside>
    )
  )
}
