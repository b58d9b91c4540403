import { Menu, PanelRight, SquarePen } from 'lucide-react'
import { useEffect } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { ask, MENU_ASKED } from '../../shell/keys.ts'
import { Button } from '../../ui/button.tsx'
import { Badge } from '../../ui/page.tsx'
import { useShownTitle } from '../sessions/shown-title.ts'
import type { Place } from './conversations.ts'
import { isTemporary } from './fresh.ts'
import { useKnown } from './known.ts'
import { Picker } from './picker.tsx'
import type { Side } from './sides.tsx'
import { Temporary } from './temporary.tsx'
import type { Setup } from './use-setup.ts'

interface HeadProps {
  /** Null for a conversation without a turn. */
  readonly title: string | null
  readonly chosen: Place
  readonly setup: Setup
  readonly right: Side
  readonly onApp: (app: string) => void
  readonly onNew: () => void
  readonly onBeside: () => void
  readonly onSession: (session: string) => void
}

/** The title of the conversation, who answers in it, and the buttons of both sides. */
export function Head(props: HeadProps) {
  const { title, chosen, setup, right, onApp, onNew, onBeside, onSession } = props
  const { t } = useI18n()
  const shownTitle = useShownTitle()
  const name = shownTitle(useKnown(chosen.session)?.title ?? title ?? t('studio.fresh'))
  useEffect(() => {
    document.title = name ? `${name} · Moonbase` : 'Moonbase'
  }, [name])
  const icon = { size: 17, 'aria-hidden': true } as const
  return (
    <header className="talk-head">
      <span className="menu-button">
        <Button
          kind="quiet"
          icon={<Menu {...icon} />}
          aria-label={t('nav.menu')}
          onClick={() => ask(MENU_ASKED)}
        />
      </span>
      <div className="talk-name">
        <h1 tabIndex={-1}>{name}</h1>
        <Picker
          app={chosen.app}
          setup={setup}
          onApp={onApp}
          onBeside={isTemporary(chosen.session) ? undefined : onBeside}
        />
      </div>
      <Temporary isEmpty={title === null} session={chosen.session} onSession={onSession} />
      {setup.isChanged && <Badge tone="warn">{t('studio.setup.mark')}</Badge>}
      <Button
        kind="quiet"
        icon={<SquarePen {...icon} />}
        aria-label={t('studio.new')}
        onClick={onNew}
      />
      <Button
        kind="quiet"
        icon={<PanelRight {...icon} />}
        aria-label={t('studio.right')}
        aria-expanded={right.isOpen}
        onClick={() => right.setOpen(!right.isOpen)}
      />
    </header>
  )
}
