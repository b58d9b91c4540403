import { Search } from 'lucide-react'
import { Suspense, useEffect, useState } from 'react'
import { useI18n } from '../i18n/index.tsx'
import { lazyPart } from '../lib/lazy-part.ts'
import { ask, PALETTE_ASKED, paletteKeys } from './keys.ts'

/** Loaded when it is first opened. */
const Palette = lazyPart(() => import('../features/palette/palette.tsx'), 'Palette')

/** The palette, opened by Ctrl or ⌘ and K wherever the focus is, or by the button below. */
export function PaletteKey() {
  const [open, setOpen] = useState<boolean | null>(null)
  useEffect(() => {
    const onAsked = () => setOpen(true)
    const onKey = (event: KeyboardEvent) => {
      const isKey = event.key.toLowerCase() === 'k' && !event.altKey && !event.shiftKey
      if (!isKey || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      // Not over a dialog: it may hold input.
      if (!document.querySelector('[data-modal]')) setOpen(true)
    }
    addEventListener('keydown', onKey)
    addEventListener(PALETTE_ASKED, onAsked)
    return () => {
      removeEventListener('keydown', onKey)
      removeEventListener(PALETTE_ASKED, onAsked)
    }
  }, [])
  if (open === null) return null
  return (
    <Suspense>
      <Palette open={open} onClose={() => setOpen(false)} />
    </Suspense>
  )
}

interface ButtonProps {
  readonly onGo?: (() => void) | undefined
}

export function PaletteButton({ onGo }: ButtonProps) {
  const { t } = useI18n()
  return (
    <button
      type="button"
      className="nav-link mb-4 border border-line"
      onClick={() => {
        onGo?.()
        ask(PALETTE_ASKED)
      }}
    >
      <Search size={16} strokeWidth={1.75} aria-hidden />
      <span className="flex-1 text-left">{t('palette.title')}</span>
      <kbd className="max-sm:hidden" aria-hidden>
        {paletteKeys()}
      </kbd>
    </button>
  )
}
