import { Link, Outlet, useLocation } from '@tanstack/react-router'
import { Menu } from 'lucide-react'
import { useLayoutEffect, useState } from 'react'
import { useI18n } from '../i18n/index.tsx'
import { Button } from '../ui/button.tsx'
import { Drawer } from '../ui/dialog.tsx'
import { ErrorBoundary } from './boundary.tsx'
import { Brand } from './logo.tsx'
import { Moved } from './moved.tsx'
import { THUMB_ITEMS } from './nav.ts'
import { PaletteKey } from './palette.tsx'
import { Shortcuts } from './shortcuts.tsx'
import { NavLink, Sidebar } from './sidebar.tsx'

/** The frame of the console: side bar on wide screens, bars and drawer on a phone. */
export function Shell() {
  const { t } = useI18n()
  const [drawer, setDrawer] = useState(false)
  const { pathname } = useLocation()
  useLayoutEffect(() => {
    document.documentElement.toggleAttribute('data-shell', true)
    return () => void document.documentElement.toggleAttribute('data-shell', false)
  }, [])
  const menu = <Menu size={20} aria-hidden />
  return (
    <>
      <a className="skip" href="#main">
        {t('nav.skip')}
      </a>
      <div className="shell">
        <header className="topbar">
          <Button
            kind="quiet"
            icon={menu}
            aria-label={t('nav.menu')}
            onClick={() => setDrawer(true)}
          />
          <Link to="/app" className="target">
            <Brand />
          </Link>
        </header>
        <aside className="sidebar">
          <Sidebar />
        </aside>
        <main id="main" tabIndex={-1}>
          <Moved />
          <ErrorBoundary key={pathname}>
            <Outlet />
          </ErrorBoundary>
        </main>
        <nav className="bottombar" aria-label={t('nav.quick')}>
          {THUMB_ITEMS.map((item) => (
            <NavLink key={item.to} item={item} className="" iconSize={20} />
          ))}
          <button type="button" onClick={() => setDrawer(true)}>
            <Menu size={20} strokeWidth={1.75} aria-hidden />
            {t('nav.more')}
          </button>
        </nav>
      </div>
      <Drawer title={t('nav.label')} open={drawer} onClose={() => setDrawer(false)}>
        <div className="flex min-h-full flex-col p-3 pt-4">
          <Sidebar onGo={() => setDrawer(false)} />
        </div>
      </Drawer>
      <Shortcuts />
      <PaletteKey />
    </>
  )
}
