import { Link, useLocation, useNavigate } from '@tanstack/react-router'
import { PanelLeft } from 'lucide-react'
import { useAnswering } from '../features/studio/conversations.ts'
import { Rail } from '../features/studio/rail.tsx'
import { type Key, useI18n } from '../i18n/index.tsx'
import { useMayChange, useOperator } from '../lib/rights.ts'
import { Button } from '../ui/button.tsx'
import { InvitationLink } from './invitation-link.tsx'
import { ask, MENU_ASKED } from './keys.ts'
import { Brand } from './logo.tsx'
import { BUILD_ITEMS, CHAT, type Door, doorOf, type NavItem, SERVER_ITEMS, tabsOf } from './nav.ts'
import { PaletteButton } from './palette.tsx'
import { TenantMenu } from './tenant-menu.tsx'
import { UserMenu } from './user-menu.tsx'

interface NavLinkProps {
  readonly item: NavItem
  readonly onGo?: (() => void) | undefined
  readonly className?: string
  readonly iconSize?: number
}

export function NavLink({ item, onGo, className = 'nav-link', iconSize = 17 }: NavLinkProps) {
  const { t } = useI18n()
  const { pathname } = useLocation()
  const Icon = item.icon
  const isBusy = useAnswering() && item.to === CHAT
  const isHere = tabsOf(pathname).some(({ to }) => to === item.to)
  return (
    <Link
      to={item.to}
      className={className}
      activeOptions={{ exact: item.to === CHAT || item.to === SERVER_ITEMS[0]?.to }}
      data-here={isHere || undefined}
      onClick={onGo}
    >
      <Icon size={iconSize} strokeWidth={1.75} aria-hidden />
      {t(item.label)}
      {isBusy && <span className="dot" role="img" aria-label={t('studio.answering')} />}
    </Link>
  )
}

/** The side bar: the doors, what is behind the open one, and the account. */
export function Sidebar({ onGo }: { readonly onGo?: () => void }) {
  const { t } = useI18n()
  const door = doorOf(useLocation().pathname)
  const items = { chat: [], build: BUILD_ITEMS, server: SERVER_ITEMS }[door]
  return (
    <>
      <div className="mb-3 flex items-center justify-between">
        <Link to={CHAT} className="target rounded-lg px-2.5 py-1" onClick={onGo}>
          <Brand />
        </Link>
        <Button
          kind="quiet"
          size="small"
          icon={<PanelLeft size={17} aria-hidden />}
          data-fold
          aria-label={t('nav.fold')}
          onClick={() => ask(MENU_ASKED)}
        />
      </div>
      <Doors door={door} onGo={onGo} />
      <TenantMenu />
      <InvitationLink onGo={onGo} />
      {door === 'chat' ? (
        <Rail onGo={onGo} />
      ) : (
        <>
          <PaletteButton onGo={onGo} />
          <nav aria-label={t('nav.label')} className="grid gap-0.5">
            {items.map((item) => (
              <NavLink key={item.to} item={item} onGo={onGo} />
            ))}
          </nav>
        </>
      )}
      <div className="account">
        <UserMenu onGo={onGo} />
      </div>
    </>
  )
}

const PLACES: Readonly<Record<Door, string>> = {
  chat: CHAT,
  build: '/app/apps',
  server: '/app/system',
}
const NAMES: Readonly<Record<Door, Key>> = {
  chat: 'nav.chat',
  build: 'nav.build',
  server: 'nav.server',
}

interface DoorsProps {
  readonly door: Door
  /** Called when a page opens, and not only the entries of a door. */
  readonly onGo?: (() => void) | undefined
}

/** Chat, Build and Server; only those that the person may open. */
function Doors({ door, onGo }: DoorsProps) {
  const { t } = useI18n()
  const navigate = useNavigate()
  const isBusy = useAnswering()
  const mayChange = useMayChange()
  const isOperator = useOperator()
  const doors: Door[] = ['chat', ...(mayChange ? (['build'] as const) : [])]
  if (isOperator) doors.push('server')
  if (doors.length === 1 && door === 'chat') return null
  return (
    <nav className="segmented doors" aria-label={t('nav.doors')}>
      {doors.map((name) => (
        <Link
          key={name}
          to={PLACES[name]}
          activeProps={{}}
          activeOptions={{ exact: true }}
          data-state={name === door ? 'active' : undefined}
          aria-current={name === door ? 'true' : undefined}
          onClick={(event) => {
            // The chat opens at its last conversation.
            if (name === 'chat') onGo?.()
            if (name !== 'chat' || door !== 'chat') return
            event.preventDefault()
            void navigate({ to: CHAT, search: {} })
          }}
        >
          {t(NAMES[name])}
          {name === 'chat' && door !== 'chat' && isBusy && (
            <span className="dot" role="img" aria-label={t('studio.answering')} />
          )}
        </Link>
      ))}
    </nav>
  )
}
