import { useQuery } from '@tanstack/react-query'
import { PanelLeft, PanelRight, SquarePen } from 'lucide-react'
import { useEffect } from 'react'
import { api } from '../../api/index.ts'
import { useI18n } from '../../i18n/index.tsx'
import { Button, CopyButton } from '../../ui/button.tsx'
import { curlOf } from '../../ui/curl.tsx'
import { Badge } from '../../ui/page.tsx'
import { useShownTitle } from '../sessions/shown-title.ts'
import type { Place } from './conversations.ts'
import { useKnown } from './known.ts'
import type { Side } from './sides.tsx'

interface HeadProps {
  /** Null for a conversation without a turn. */
  readonly title: string | null
  readonly chosen: Place
  /** The last question, for the curl command. */
  readonly text: string
  readonly kb: boolean
  /** Whether the setup has unsaved changes. */
  readonly isChanged: boolean
  readonly left: Side
  readonly right: Side
  readonly onApp: (app: string) => void
  readonly onNew: () => void
}

/** The title of the conversation, its app, and the buttons that fold the sides. */
export function Head(props: HeadProps) {
  const { title, chosen, text, kb, isChanged, left, right, onApp, onNew } = props
  const { t } = useI18n()
  const shownTitle = useShownTitle()
  const name = shownTitle(useKnown(chosen.session)?.title ?? title ?? t('nav.studio'))
  useEffect(() => {
    document.title = `${name} · Moonbase`
  }, [name])
  const apps = useQuery({ queryKey: ['apps'], queryFn: api.apps.list })
  const body = { text, session_id: chosen.session, ...(kb ? {} : { kb: false }) }
  const icon = { size: 17, 'aria-hidden': true } as const
  return (
    <header className="talk-head">
      <Button
        kind="quiet"
        icon={<PanelLeft {...icon} />}
        aria-label={t('studio.left')}
        aria-expanded={left.isOpen}
        onClick={() => left.setOpen(!left.isOpen)}
      />
      <h1 tabIndex={-1} className="min-w-0 flex-1 truncate text-[1.05rem]">
        {name}
      </h1>
      {isChanged && <Badge tone="warn">{t('studio.setup.mark')}</Badge>}
      <select
        className="input talk-app"
        aria-label={t('studio.app')}
        value={chosen.app}
        onChange={(event) => onApp(event.target.value)}
      >
        <option value="">{t('studio.app.none')}</option>
        {(apps.data?.apps ?? []).map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
      <span className="hidden sm:inline">
        <CopyButton text={curlOf(body)} what="curl" />
      </span>
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
