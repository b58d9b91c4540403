import { Link, Outlet, useLocation } from '@tanstack/react-router'
import { Menu, PanelLeft } from 'lucide-react'
import { lazy, Suspense, useEffect, useLayoutEffect } from 'react'
import { EndedElsewhere } from '../features/studio/ended-elsewhere.tsx'
import { useI18n } from '../i18n/index.tsx'
import { useFocusKept } from '../lib/focus-kept.ts'
import { loadChunk } from '../lib/lazy-chunks.ts'
import { keepShell } from '../lib/offline.ts'
import { Button } from '../ui/button.tsx'
import { Drawer } from '../ui/dialog.tsx'
import { ErrorBoundary } from './boundary.tsx'
import { useSideBar } from './folded.ts'
import { Brand } from './logo.tsx'
import { Moved } from './moved.tsx'
import { CHAT, THUMB_ITEMS, tabsOf } from './nav.ts'
import { PaletteKey } from './palette.tsx'
import { Shortcuts } from './shortcuts.tsx'
import { NavLink, Sidebar } from './sidebar.tsx'
import { usePerson } from './use-person.ts'

/** What is there to be told, and what is kept for later, is not what a page waits for. */
const LATER_MS = 3_000
const Notices = lazy(async () => {
  await new Promise((resolve) => setTimeout(resolve, LATER_MS))
  const { Notices: Told } = await loadChunk(() => import('../features/schedules/notices.tsx'))
  return { default: Told }
})

/** The frame of the console: one side bar, which a phone shows as a sheet. */
export function Shell() {
  const { t } = useI18n()
  const bar = useSideBar()
  const drops = usePerson()
  const { pathname } = useLocation()
  const isChat = pathname.replace(/\/$/, '') === CHAT
  useFocusKept()
  useEffect(() => {
    const later = setTimeout(keepShell, LATER_MS)
    return () => clearTimeout(later)
  }, [])
  useLayoutEffect(() => {
    document.documentElement.toggleAttribute('data-shell', true)
    return () => void document.documentElement.toggleAttribute('data-shell', false)
  }, [])
  return (
    <>
      <a className="skip" href="#main">
        {t('nav.skip')}
      </a>
      <div
        className="shell"
        data-folded={(bar.isDesk && !bar.isOpen) || undefined}
        data-chat={isChat || undefined}
      >
        {!isChat && <Bars {...bar} />}
        {bar.isDesk && bar.isOpen && (
          <aside className="sidebar" aria-label={t('nav.bar')}>
            <Sidebar />
          </aside>
        )}
        <main id="main" tabIndex={-1}>
          <Moved />
          <Tabs path={pathname} />
          <ErrorBoundary key={`${pathname} ${drops}`}>
            <Outlet />
          </ErrorBoundary>
        </main>
        {!isChat && (
          <nav className="bottombar" aria-label={t('nav.quick')}>
            {THUMB_ITEMS.map((item) => (
              <NavLink key={item.to} item={item} className="" iconSize={20} />
            ))}
            <button type="button" onClick={bar.toggle}>
              <Menu size={20} strokeWidth={1.75} aria-hidden />
              {t('nav.more')}
            </button>
          </nav>
        )}
      </div>
      {!bar.isDesk && (
        <Drawer title={t('nav.label')} open={bar.isOpen} onOpen={bar.open} onClose={bar.close}>
          <div className="sidebar-sheet">
            <Sidebar onGo={bar.close} />
          </div>
        </Drawer>
      )}
      <ErrorBoundary fallback={null}>
        <Suspense>
          <Notices />
        </Suspense>
        <Suspense>
          <EndedElsewhere />
        </Suspense>
      </ErrorBoundary>
      <Shortcuts />
      <PaletteKey />
    </>
  )
}

/** The bar of a phone, and on a desk the button that brings a folded side bar back. */
function Bars({ isDesk, isOpen, toggle }: ReturnType<typeof useSideBar>) {
  const { t } = useI18n()
  if (isDesk) {
    return (
      !isOpen && (
        <div className="unfold">
          <Button
            kind="quiet"
            icon={<PanelLeft size={17} aria-hidden />}
            data-fold
            aria-label={t('nav.unfold')}
            onClick={toggle}
          />
        </div>
      )
    )
  }
  return (
    <header className="topbar">
      <Button
        kind="quiet"
        icon={<Menu size={20} aria-hidden />}
        aria-label={t('nav.menu')}
        onClick={toggle}
      />
      <Link to={CHAT} className="target">
        <Brand />
      </Link>
    </header>
  )
}

/** Scrolls a row of tabs to the page that is shown. */
function showHere(row: HTMLElement | null) {
  const here = row?.querySelector<HTMLElement>('[aria-current]')
  if (row && here) row.scrollLeft = here.offsetLeft - (row.clientWidth - here.offsetWidth) / 2
}

/** The pages that share an entry of the side bar with this one. */
function Tabs({ path }: { readonly path: string }) {
  const { t } = useI18n()
  const tabs = tabsOf(path)
  if (tabs.length === 0) return null
  return (
    <nav key={path} ref={showHere} className="page-tabs table-scroll" aria-label={t('nav.tabs')}>
      {tabs.map(({ to, label }) => (
        <Link key={to} to={to} className="tab">
          {t(label)}
        </Link>
      ))}
    </nav>
  )
}
