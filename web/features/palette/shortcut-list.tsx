import { type Key, useI18n } from '../../i18n/index.tsx'
import { paletteKeys } from '../../shell/keys.ts'
import { Dialog } from '../../ui/dialog.tsx'

const KEYS: readonly (readonly [Key, ...string[]])[] = [
  ['studio.new', 'Ctrl', 'Shift', 'O'],
  ['shortcuts.copy', 'Ctrl', 'Shift', 'C'],
  ['shortcuts.code', 'Ctrl', 'Shift', ';'],
  ['shortcuts.bar', 'Ctrl', 'Shift', 'S'],
  ['shortcuts.talks', 'Alt', '↑', '↓'],
  ['shortcuts.write', '/'],
  ['shortcuts.leave', 'Esc'],
]

interface ShortcutListProps {
  readonly open: boolean
  readonly onClose: () => void
}

/** The shortcuts of the keyboard. */
export function ShortcutList({ open, onClose }: ShortcutListProps) {
  const { t } = useI18n()
  return (
    <Dialog title={t('shortcuts.title')} open={open} onClose={onClose}>
      <dl className="grid gap-y-2">
        <Shortcut name={t('palette.title')} keys={paletteKeys().split(' ')} />
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
