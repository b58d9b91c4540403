import { CircleCheck, LoaderCircle, TriangleAlert, X } from 'lucide-react'
import { useContext, useLayoutEffect, useRef, useSyncExternalStore } from 'react'
import { createPortal } from 'react-dom'
import { ApiError } from '../api/client.ts'
import { useI18n } from '../i18n/index.tsx'
import { PresenceContext } from '../lib/presence.ts'
import { SIGNED_OUT, useExplain, useToasts } from '../lib/services.tsx'
import type { Toast } from '../lib/toasts.ts'
import { keepFree, leaveRoom } from './free-place.ts'

/** Short messages, and a banner while the server is unreachable. */
export function ToastRegion() {
  const { t } = useI18n()
  const toasts = useToasts()
  const list = useSyncExternalStore(toasts.subscribe, toasts.read)
  const away = useAway()
  const region = useRef<HTMLElement>(null)
  useLayoutEffect(() => {
    if (region.current && (away || list.length > 0)) return keepFree(region.current)
    return leaveRoom()
  }, [away, list])
  return createPortal(
    <section
      ref={region}
      aria-label={t('state.messages')}
      aria-live="polite"
      className="toasts"
      onPointerEnter={() => toasts.hold(true)}
      onPointerLeave={() => toasts.hold(false)}
      onFocus={() => toasts.hold(true)}
      onBlur={() => toasts.hold(false)}
    >
      {away && (
        <div className="toast" data-tone="warn">
          <LoaderCircle size={17} className="animate-spin" aria-hidden />
          <p className="min-w-0 flex-1">{t('away.text')}</p>
        </div>
      )}
      {list.map((toast) => (
        <Message key={toast.id} toast={toast} />
      ))}
    </section>,
    document.body,
  )
}

function useAway(): boolean {
  const presence = useContext(PresenceContext)
  if (!presence) throw new Error('useAway outside its provider')
  return useSyncExternalStore(presence.subscribe, presence.isAway)
}

function Message({ toast: { id, tone, text, act } }: { readonly toast: Toast }) {
  const { t } = useI18n()
  const toasts = useToasts()
  const explain = useExplain()
  return (
    <div className="toast">
      {tone === 'good' ? (
        <CircleCheck size={17} className="text-good" aria-hidden />
      ) : (
        <TriangleAlert size={17} className="text-bad" aria-hidden />
      )}
      <p className="min-w-0 flex-1 wrap-anywhere">
        {isSignedOut(text) ? <SignInAgain /> : text instanceof Error ? explain(text) : text}
      </p>
      {act && (
        <button
          type="button"
          className="target text-accent underline underline-offset-2"
          onClick={() => {
            toasts.dismiss(id)
            act.run()
          }}
        >
          {act.label}
        </button>
      )}
      <button
        type="button"
        className="mt-0.5 text-ink-3"
        aria-label={t('action.close')}
        onClick={() => toasts.dismiss(id)}
      >
        <X size={15} aria-hidden />
      </button>
    </div>
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
