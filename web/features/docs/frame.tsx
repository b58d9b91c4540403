import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { Brand } from '../../shell/logo.tsx'
import { AppearanceBar } from '../login/appearance-bar.tsx'

/** What the public documentation has around its pages: the way home, and from one to the other. */
export function DocsFrame({ children }: { readonly children: ReactNode }) {
  const { t } = useI18n()
  return (
    <main id="main" className="relative">
      <header className="mx-auto max-w-[66rem] px-4 pt-4 sm:px-8">
        <Link to="/" className="inline-block rounded-lg py-1">
          <Brand />
        </Link>
        <AppearanceBar />
        <nav className="mt-4 flex gap-5 border-b border-line" aria-label={t('docs.pages')}>
          <Link to="/docs" activeOptions={{ exact: true }} className="tab">
            {t('docs.title')}
          </Link>
          <Link to="/docs/devices" className="tab">
            {t('makers.title')}
          </Link>
        </nav>
      </header>
      {children}
    </main>
  )
}
