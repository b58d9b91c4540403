import { Link } from '@tanstack/react-router'
import { ChevronDown } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { GUIDE_GROUPS, guidePath } from '../../guides/pages.ts'
import { useI18n } from '../../i18n/index.tsx'
import { Brand } from '../../shell/logo.tsx'
import { CHAT } from '../../shell/nav.ts'
import { AppearanceBar } from '../login/appearance-bar.tsx'
import { Found, ManualSearch } from './manual-search.tsx'

/**
 * The frame of the public manual: links home and to the console, search, and the list of pages.
 * Search results replace the page.
 */
export function DocsFrame({ children }: { readonly children: ReactNode }) {
  const { t } = useI18n()
  const [query, setQuery] = useState('')
  const wanted = query.trim()
  const leave = () => setQuery('')
  return (
    <div className="relative">
      <a className="skip" href="#main">
        {t('nav.skip')}
      </a>
      <header className="mx-auto flex items-center max-w-[80rem] px-4 pt-4 sm:px-8">
        <Link to="/" className="target inline-block rounded-lg py-1">
          <Brand />
        </Link>
        <Link to={CHAT} className="target ml-6 inline-block py-1 text-accent">
          {t('door.console')}
        </Link>
        <AppearanceBar />
      </header>
      <div className="mx-auto grid max-w-[80rem] lg:grid-cols-[16rem_minmax(0,1fr)]">
        <aside className="manual-side">
          <ManualSearch query={query} onQuery={setQuery} />
          <details className="group mt-3 lg:hidden">
            <summary className="target flex cursor-pointer list-none items-center gap-2 text-ink-2">
              {t('docs.pages')}
              <ChevronDown size={16} className="group-open:rotate-180" aria-hidden />
            </summary>
            <Pages onGo={leave} />
          </details>
          <div className="mt-5 hidden pb-8 lg:block">
            <Pages onGo={leave} />
          </div>
        </aside>
        <main id="main" tabIndex={-1} className="min-w-0">
          {wanted === '' ? children : <Found query={wanted} onOpen={leave} />}
        </main>
      </div>
    </div>
  )
}

function Pages({ onGo }: { readonly onGo: () => void }) {
  const { t } = useI18n()
  const current = { activeOptions: { exact: true } } as const
  return (
    <nav aria-label={t('docs.pages')} className="grid gap-4">
      {GUIDE_GROUPS.map(({ id: group, pages }) => (
        <div key={group}>
          <p className="px-2.5 pb-1 text-mini text-ink-3">{t(`guide.group.${group}`)}</p>
          {pages.map((id) => (
            <Link key={id} to={guidePath(id)} className="nav-link" onClick={onGo} {...current}>
              {t(`guide.${id}`)}
            </Link>
          ))}
          {group === 'build' && (
            <Link to="/docs/reference" className="nav-link" onClick={onGo} {...current}>
              {t('docs.title')}
            </Link>
          )}
        </div>
      ))}
    </nav>
  )
}
