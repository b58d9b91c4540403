import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { ApiError, serverAnswers, UNREACHED } from './api/client.ts'
import { followTurn, streamTurn } from './api/stream.ts'
import { talks } from './api/talks.ts'
import { ConversationsContext, createConversations } from './features/studio/conversations.ts'
import { joinTabs } from './features/studio/tabs.ts'
import { I18nProvider, loadTexts, preferredLanguage } from './i18n/index.tsx'
import { isDirty, markDirtyForms } from './lib/dirty-forms.ts'
import { tabStorage } from './lib/kept.ts'
import { createPresence, PresenceContext } from './lib/presence.ts'
import { reload } from './lib/reload.ts'
import { createQueries, SIGNED_OUT, ToastsContext } from './lib/services.tsx'
import { createToasts } from './lib/toasts.ts'
import { createPages } from './router.tsx'
import { ErrorBoundary } from './shell/boundary.tsx'

/** Before a broken stream is taken up again. */
const RESUME_MS = 1_000

async function start(root: HTMLElement): Promise<void> {
  const language = preferredLanguage()
  const texts = await loadTexts(language)
  const toasts = createToasts()
  const router = createPages()
  markDirtyForms()
  const presence = createPresence(serverAnswers)
  // Opening a page moves the focus to its heading, as a page load would, or to the field that the
  // page has focused.
  router.subscribe('onResolved', ({ fromLocation, pathChanged }) => {
    if (
      !fromLocation ||
      !pathChanged ||
      document.activeElement?.matches('main :is(input, textarea)')
    )
      return
    const place = document.querySelector<HTMLElement>('h1') ?? document.getElementById('main')
    place?.focus({ preventScroll: true })
  })
  const onSignedOut = () => {
    const { pathname, href } = router.state.location
    if (pathname === '/login') return
    // With unsaved input a message offers to sign in in another tab, and the page stays.
    if (isDirty()) toasts.show('bad', new ApiError('', SIGNED_OUT))
    else void router.navigate({ to: '/login', search: { next: href } })
  }
  const queries = createQueries((error) => toasts.show('bad', error), onSignedOut)
  // Reloads what failed to load while the server was away, and what may have changed.
  presence.subscribe(() => {
    if (!presence.isAway()) void reload(queries, [])
  })
  const conversations = createConversations({
    stream: streamTurn,
    follow: followTurn,
    turns: talks,
    isAway: presence.isAway,
    pause: () => new Promise((resolve) => setTimeout(resolve, RESUME_MS)),
    storage: tabStorage,
  })
  addEventListener(UNREACHED, () => void presence.watch().then(conversations.sendWaiting))
  joinTabs(conversations, queries)
  conversations.resume()
  // A person who was signed out comes back from the sign-in.
  addEventListener('focus', conversations.resume)
  createRoot(root).render(
    <StrictMode>
      <I18nProvider initial={{ ...texts, language }}>
        <ErrorBoundary>
          <ToastsContext value={toasts}>
            <PresenceContext value={presence}>
              <QueryClientProvider client={queries}>
                <ConversationsContext value={conversations}>
                  <RouterProvider router={router} />
                </ConversationsContext>
              </QueryClientProvider>
            </PresenceContext>
          </ToastsContext>
        </ErrorBoundary>
      </I18nProvider>
    </StrictMode>,
  )
}

const root = document.getElementById('root')
if (root) void start(root)
if (!CSS.supports('field-sizing:content')) void import('./lib/growing-fields.ts')
