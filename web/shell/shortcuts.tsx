import { Suspense, useEffect, useState } from 'react'
import { lazyPart } from '../lib/lazy-part.ts'
import { isTyping, SHORTCUTS_ASKED } from './keys.ts'

/** Loaded when it is first opened. */
const List = lazyPart(() => import('../features/palette/shortcut-list.tsx'), 'ShortcutList')

/** `?` shows the list of shortcuts. Off while a field has the focus. */
export function Shortcuts() {
  const [open, setOpen] = useState<boolean | null>(null)
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      if (event.key === '?') setOpen(true)
    }
    const onAsked = () => setOpen(true)
    addEventListener('keydown', onKey)
    addEventListener(SHORTCUTS_ASKED, onAsked)
    return () => {
      removeEventListener('keydown', onKey)
      removeEventListener(SHORTCUTS_ASKED, onAsked)
    }
  }, [])
  if (open === null) return null
  return (
    <Suspense>
      <List open={open} onClose={() => setOpen(false)} />
    </Suspense>
  )
}
