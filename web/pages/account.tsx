import { useQuery } from '@tanstack/react-query'
import { api } from '../api/index.ts'
import { BrowserNotices } from '../features/login/notices.tsx'
import { Passkeys } from '../features/login/passkeys.tsx'
import { useI18n } from '../i18n/index.tsx'
import { Page } from '../ui/page.tsx'

/** The signed-in person, and how they sign in. */
export function Account() {
  const { t } = useI18n()
  const me = useQuery({ queryKey: ['me'], queryFn: api.auth.me })
  return (
    <Page title={t('nav.account')} about={me.data?.email}>
      <div className="max-w-2xl">
        <Passkeys />
        <BrowserNotices />
      </div>
    </Page>
  )
}
