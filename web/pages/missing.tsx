import { Link } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useI18n } from '../i18n/index.tsx'

export function Missing() {
  const { t } = useI18n()
  useEffect(() => {
    document.title = `${t('missing.title')} · Moonbase`
  }, [t])
  return (
    <div className="page grid justify-items-center gap-3 py-24 text-center">
      <h1 tabIndex={-1}>{t('missing.title')}</h1>
      <p className="text-ink-2">{t('missing.text')}</p>
      <Link to="/app" className="btn" data-kind="primary">
        {t('nav.home')}
      </Link>
    </div>
  )
}
