import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useCallback, useEffect, useState } from 'react'
import { api } from '../api/index.ts'
import { AppearanceBar } from '../features/login/appearance-bar.tsx'
import { Backdrop } from '../features/login/backdrop.tsx'
import { CodeStep } from '../features/login/code-step.tsx'
import { EmailStep } from '../features/login/email-step.tsx'
import { loginFault } from '../features/login/fault.ts'
import { firstPage } from '../features/login/first-page.ts'
import { safeNext } from '../features/login/next.ts'
import { PasskeyButton } from '../features/login/passkey-button.tsx'
import { readPending, savePending } from '../features/login/pending.ts'
import { useI18n } from '../i18n/index.tsx'
import { tabStorage } from '../lib/kept.ts'
import { Brand } from '../shell/logo.tsx'
import { Notice } from '../ui/page.tsx'

/** Hosts of this machine and of private networks, where the cookie is not marked Secure. */
const NEAR =
  /^(127|10|192\.168|169\.254|172\.(1[6-9]|2\d|3[01]))\.[\d.]+$|\.(local|lan|home\.arpa)$/

/** How often the page asks whether mail goes, while it waits for a code. */
const MAIL_MS = 5_000

/** Over plain http from another machine, browsers drop a cookie marked Secure. */
const dropsCookies = () =>
  location.protocol === 'http:' && location.hostname.includes('.') && !NEAR.test(location.hostname)

export function Login() {
  const { t } = useI18n()
  const search: Record<string, unknown> = useSearch({ strict: false })
  const next = safeNext(search.next, location.origin)
  const [email, setEmail] = useState(() => readPending(tabStorage, Date.now()))
  // Whether a code went is known some seconds after it was asked for.
  const refetchInterval = email === null ? false : MAIL_MS
  const methods = useQuery({
    ...{ queryKey: ['methods'], queryFn: api.auth.methods, refetchInterval },
  })
  const isFailing = methods.data?.mail === 'failing'
  const ask = (address: string | null) => {
    savePending(tabStorage, address, Date.now())
    setEmail(address)
  }
  const onDone = useCallback(() => {
    savePending(tabStorage, null, Date.now())
    void (next === '/app' ? firstPage() : Promise.resolve(next)).then((to) => location.replace(to))
  }, [next])
  // A person who is signed in already, perhaps in another tab, is redirected.
  useEffect(() => void api.auth.me().then(onDone, () => {}), [onDone])
  useEffect(() => {
    document.title = `${t('login.title')} · Moonbase`
  }, [t])
  const delivery = methods.data?.email_delivery ?? 'mail'
  return (
    <main
      id="main"
      className="relative grid min-h-dvh place-items-center overflow-hidden px-4 py-16"
    >
      <Backdrop />
      <AppearanceBar />
      <div className="relative w-full max-w-[23rem]">
        <div className="mb-8 grid justify-items-center gap-2 text-center">
          <span className="text-xl">
            <Brand />
          </span>
          <h1 className="sr-only">{t('login.title')}</h1>
          <p className="text-ink-2">{t('login.tagline')}</p>
        </div>
        <div className="card grid gap-5 p-6">
          {'error' in search && <Notice tone="bad">{t(loginFault(search.error))}</Notice>}
          {dropsCookies() && <Notice tone="warn">{t('login.insecure')}</Notice>}
          {email === null && methods.data?.passkey && <PasskeyButton onDone={onDone} />}
          {isFailing && <Notice tone="warn">{t('login.mail.failing')}</Notice>}
          {methods.data?.email === false ? null : email === null ? (
            <EmailStep delivery={delivery} onSent={ask} />
          ) : (
            <CodeStep {...{ email, delivery, isFailing, onDone }} onBack={() => ask(null)} />
          )}
          {email === null && <OauthButtons providers={methods.data?.oauth ?? []} next={next} />}
        </div>
      </div>
    </main>
  )
}

interface OauthProps {
  readonly providers: readonly { readonly id: string; readonly name: string }[]
  readonly next: string
}

function OauthButtons({ providers, next }: OauthProps) {
  const { t } = useI18n()
  if (providers.length === 0) return null
  return (
    <div className="grid gap-2">
      <p className="flex items-center gap-3 pb-1 text-small text-ink-3">
        <span className="h-px flex-1 bg-line" />
        {t('login.or')}
        <span className="h-px flex-1 bg-line" />
      </p>
      {providers.map(({ id, name }) => (
        <a
          key={id}
          className="btn"
          href={`/auth/oauth/${encodeURIComponent(id)}?next=${encodeURIComponent(next)}`}
        >
          {t('login.with', { name })}
        </a>
      ))}
    </div>
  )
}
