import { Link } from '@tanstack/react-router'
import { type Key, useI18n } from '../i18n/index.tsx'
import { Page } from './page.tsx'

interface GoneProps {
  readonly title: string
  /** The list in which it was. */
  readonly list: string
  readonly label: Key
}

/** In place of a thing that is there no more. */
export function Gone({ title, list, label }: GoneProps) {
  const { t } = useI18n()
  return (
    <Page title={title} about={t('gone.text')}>
      <Link to={list} className="btn" data-kind="primary">
        {t(label)}
      </Link>
    </Page>
  )
}
