import { useNavigate } from '@tanstack/react-router'
import { useEffect, useMemo, useState } from 'react'
import { useI18n } from '../i18n/index.tsx'
import { useOperator } from '../lib/rights.ts'
import { Dialog } from '../ui/dialog.tsx'
import { paletteKeys, SHORTCUTS_ASKED } from './keys.ts'
import { NAV_ITEMS, SYSTEM_ITEM } from './nav.ts'

const SEQUENCE_MS = 1_200

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/** `g` and a letter open a page, `?` shows this list. Off while a field has the focus. */
export function Shortcuts() {
  const { t } = useI18n()
  const navigate = useNavigate()
  const [open, setOpen] = useState(false)
  const isOperator = useOperator()
  const items = useMemo(() => (isOperator ? [...NAV_ITEMS, SYSTEM_ITEM] : NAV_ITEMS), [isOperator])
  useEffect(() => {
    let pressedAt = 0
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      if (event.key === '?') return setOpen(true)
      if (event.key === 'g') {
        pressedAt = event.timeStamp
        return
      }
      const item = items.find(({ letter }) => letter === event.key)
      if (!item || event.timeStamp - pressedAt > SEQUENCE_MS) return
      pressedAt = 0
      void navigate({ to: item.to })
    }
    const onAsked = () => setOpen(true)
    addEventListener('keydown', onKey)
    addEventListener(SHORTCUTS_ASKED, onAsked)
    return () => {
      removeEventListener('keydown', onKey)
      removeEventListener(SHORTCUTS_ASKED, onAsked)
    }
  }, [navigate, items])
  return (
    <Dialog title={t('shortcuts.title')} open={open} onClose={() => setOpen(false)}>
      <dl className="grid gap-x-8 gap-y-2 sm:grid-cols-2">
        {items.map(({ to, label, letter }) => (
          <div key={to} className="flex items-center justify-between gap-4">
            <dt>{t(label)}</dt>
            <dd className="flex gap-1">
              <kbd>g</kbd>
              <kbd>{letter}</kbd>
            </dd>
          </div>
        ))}
        <div className="flex items-center justify-between gap-4">
          <dt>{t('palette.title')}</dt>
          <dd>
            <kbd>{paletteKeys()}</kbd>
          </dd>
        </div>
        <div className="flex items-center justify-between gap-4">
          <dt>{t('shortcuts.title')}</dt>
          <dd>
            <kbd>?</kbd>
          </dd>
        </div>
      </dl>
    </Dialog>
  )
}
