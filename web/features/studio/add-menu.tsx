import * as Menu from '@radix-ui/react-dropdown-menu'
import { Camera, FolderUp, Globe, Paperclip, Plus, Wrench } from 'lucide-react'
import { useRef } from 'react'
import { type Key, useI18n } from '../../i18n/index.tsx'
import { chooseFiles } from '../../lib/choose-files.ts'
import { useMayChange } from '../../lib/rights.ts'
import { IconMenu } from '../../ui/icon-menu.tsx'

interface AddMenuProps {
  readonly onAttach: () => void
  readonly onFiles: (files: readonly File[]) => void
  /** Absent where the page of this talk cannot be set up. */
  readonly onTools: (() => void) | undefined
  readonly onPage: () => void
}

/** A phone has a camera and no folders. */
const isPhone = () => matchMedia('(pointer: coarse)').matches

/** What can be put beside a question. */
export function AddMenu({ onAttach, onFiles, onTools, onPage }: AddMenuProps) {
  const { t } = useI18n()
  const mayChange = useMayChange()
  const trigger = useRef<HTMLButtonElement>(null)
  const icon = { size: 15, 'aria-hidden': true } as const
  const item = (label: Key, sign: React.ReactNode, act: () => void) => (
    <Menu.Item
      className="menu-item"
      onSelect={() => {
        // The menu closes before a dialog, so the focus returns to this button.
        trigger.current?.focus()
        act()
      }}
    >
      {sign}
      {t(label)}
    </Menu.Item>
  )
  return (
    <IconMenu
      trigger={trigger}
      label={t('studio.add')}
      icon={<Plus size={17} aria-hidden />}
      align="start"
    >
      {item('studio.files', <Paperclip {...icon} />, onAttach)}
      {isPhone()
        ? item('studio.add.camera', <Camera {...icon} />, () =>
            chooseFiles({ accept: 'image/*', camera: true }, onFiles),
          )
        : item('studio.add.folder', <FolderUp {...icon} />, () =>
            chooseFiles({ folder: true }, onFiles),
          )}
      {mayChange && item('studio.add.page', <Globe {...icon} />, onPage)}
      {mayChange && onTools && item('studio.add.tools', <Wrench {...icon} />, onTools)}
    </IconMenu>
  )
}
