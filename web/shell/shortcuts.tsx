import { useEffect, useState } from 'react'
import { type Key, useI18n } from '../i18n/index.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { isTyping, paletteKeys, SHORTCUTS_ASKED } from './keys.ts'

const KEYS: readonly (readonly [Key, ...string[]])[] = [
  ['studio.new', 'Ctrl', 'Shift', 'O'],
  ['shortcuts.copy', 'Ctrl', 'Shift', 'C'],
  ['shortcuts.code', 'Ctrl', 'Shift', ';'],
  ['shortcuts.bar', 'Ctrl', 'Shift', 'S'],
  ['shortcuts.talks', 'Alt', '↑', '↓'],
  ['shortcuts.write', '/'],
  ['shortcuts.leave', 'Esc'],
]

/** `?` shows the list of shortcuts. Off while a field has the focus. */
export function Shortcuts() {
  const { t } = useI18n()
  const [open, setOpen] = useState(false)
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
  return (
    <Dialog title={t('shortcuts.title')} open={open} onClose={() => setOpen(false)}>
      <dl className="grid gap-y-2">
        <Shortcut name={t('palette.title')} keys={[paletteKeys()]} />
        {KEYS.map(([label, ...keys]) => (
          <Shortcut key={label} name={t(label)} keys={keys} />
        ))}
        <Shortcut name={t('shortcuts.title')} keys={['?']} />
      </dl>
    </Dialog>
  )
}

function Shortcut({ name, keys }: { readonly name: string; readonly keys: readonly string[] }) {
  return (
    <div className="flex items-center justify-between gap-4">
      <dt>{name}</dt>
      <dd className="flex gap-1">
        {keys.map((key) => (
          <kbd key={key}>{key}</kbd>
        ))}
      </dd>
    </div>
  )
}
