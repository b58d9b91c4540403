import { type ReactNode, useState, useSyncExternalStore } from 'react'
import { Drawer } from '../../ui/dialog.tsx'

const WIDE = '(width >= 64rem)'
const ROOMY = '(width >= 92rem)'

function subscribe(listener: () => void): () => void {
  const query = matchMedia(WIDE)
  query.addEventListener('change', listener)
  return () => query.removeEventListener('change', listener)
}

/** Whether the sides stand beside the conversation; else they are sheets over it. */
const useWide = () => useSyncExternalStore(subscribe, () => matchMedia(WIDE).matches)

export interface Side {
  readonly isOpen: boolean
  readonly isSheet: boolean
  readonly setOpen: (isOpen: boolean) => void
}

/** A side that folds away; the browser remembers that, except for a sheet. */
export function useSide(name: 'left' | 'right'): Side {
  const saved = `mb.studio.${name}`
  const isWide = useWide()
  const [isOpen, setOpen] = useState(() => {
    const kept = localStorage.getItem(saved)
    return kept === null ? matchMedia(name === 'left' ? WIDE : ROOMY).matches : kept === 'open'
  })
  const [isOver, setOver] = useState(false)
  return isWide
    ? {
        isOpen,
        isSheet: false,
        setOpen(next) {
          localStorage.setItem(saved, next ? 'open' : 'folded')
          setOpen(next)
        },
      }
    : { isOpen: isOver, isSheet: true, setOpen: setOver }
}

interface SideViewProps {
  readonly side: Side
  readonly name: 'left' | 'right'
  readonly label: string
  readonly children: ReactNode
}

/** A side of the conversation: a column, or a sheet on a narrow screen. */
export function SideView({ side, name, label, children }: SideViewProps) {
  if (side.isSheet) {
    return (
      <Drawer
        title={label}
        open={side.isOpen}
        look={name === 'right' ? 'drawer at-right' : 'drawer'}
        onClose={() => side.setOpen(false)}
      >
        <div className="side">{children}</div>
      </Drawer>
    )
  }
  return (
    side.isOpen && (
      <aside className="side" data-side={name} aria-label={label}>
        {children}
      </aside>
    )
  )
}
