import { CircleCheck, TriangleAlert, X } from 'lucide-react'
import { useSyncExternalStore } from 'react'
import { createPortal } from 'react-dom'
import { ApiError } from '../api/client.ts'
import { useI18n } from '../i18n/index.tsx'
import { SIGNED_OUT, useExplain, useToasts } from '../lib/services.tsx'

export function ToastRegion() {
  const { t } = useI18n()
  const toasts = useToasts()
  const explain = useExplain()
  const list = useSyncExternalStore(toasts.subscribe, toasts.read)
  return createPortal(
    <section aria-label={t('state.messages')} aria-live="polite" className="toasts">
      {list.map(({ id, tone, text }) => (
        <div key={id} className="toast">
          {tone === 'good' ? (
            <CircleCheck size={17} className="text-good" aria-hidden />
          ) : (
            <TriangleAlert size={17} className="text-bad" aria-hidden />
          )}
          <p className="min-w-0 flex-1 break-words">
            {isSignedOut(text) ? <SignInAgain /> : text instanceof Error ? explain(text) : text}
          </p>
          <button
            type="button"
            className="mt-0.5 text-ink-3"
            aria-label={t('action.close')}
            onClick={() => toasts.dismiss(id)}
          >
            <X size={15} aria-hidden />
          </button>
        </div>
      ))}
    </section>,
    document.body,
  )
}

const isSignedOut = (text: unknown) => text instanceof ApiError && text.status === SIGNED_OUT

/** Opens in another tab, so that forms of the page keep their input. */
function SignInAgain() {
  const { t } = useI18n()
  const next = encodeURIComponent(location.pathname + location.search)
  return (
    <>
      {t('session.over')}{' '}
      <a
        href={`/login?next=${next}`}
        target="_blank"
        rel="noopener"
        className="text-accent underline underline-offset-2"
      >
        {t('session.again')}
      </a>
    </>
  )
}
