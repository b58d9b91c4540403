import { Link } from '@tanstack/react-router'
import { useAnswering } from '../features/studio/conversations.ts'
import { useI18n } from '../i18n/index.tsx'
import { useOperator } from '../lib/rights.ts'
import { InvitationLink } from './invitation-link.tsx'
import { Brand } from './logo.tsx'
import { NAV, type NavItem, STUDIO, SYSTEM_ITEM } from './nav.ts'
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
  const Icon = item.icon
  const isBusy = useAnswering() && item.to === STUDIO
  return (
    <Link
      to={item.to}
      className={className}
      activeOptions={{ exact: item.to === '/app' }}
      onClick={onGo}
    >
      <Icon size={iconSize} strokeWidth={1.75} aria-hidden />
      {t(item.label)}
      {isBusy && <span className="dot" role="img" aria-label={t('studio.answering')} />}
    </Link>
  )
}

/** The list of pages; also the content of the drawer on a phone. */
export function Sidebar({ onGo }: { readonly onGo?: () => void }) {
  const isOperator = useOperator()
  const { t } = useI18n()
  return (
    <>
      <Link to="/app" className="mb-4 rounded-lg px-2.5 py-1" onClick={onGo}>
        <Brand />
      </Link>
      <TenantMenu />
      <InvitationLink onGo={onGo} />
      <PaletteButton onGo={onGo} />
      <nav aria-label={t('nav.label')} className="grid gap-3.5">
        {NAV.map(({ title, items }) => (
          <div key={title ?? 'top'} className="grid gap-0.5">
            {title && <p className="px-2.5 pb-1 text-[0.8rem] text-ink-3">{t(title)}</p>}
            {items.map((item) => (
              <NavLink key={item.to} item={item} onGo={onGo} />
            ))}
          </div>
        ))}
        {isOperator && <NavLink item={SYSTEM_ITEM} onGo={onGo} />}
      </nav>
      <div className="account">
        <UserMenu />
      </div>
    </>
  )
}
