import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { I18nProvider, loadDictionary, preferredLanguage } from './i18n/index.tsx'
import { createQueries, ToastsContext } from './lib/services.tsx'
import { createToasts } from './lib/toasts.ts'
import { createPages } from './router.tsx'
import { ErrorBoundary } from './shell/boundary.tsx'

async function start(root: HTMLElement): Promise<void> {
  const language = preferredLanguage()
  const dictionary = await loadDictionary(language)
  const toasts = createToasts()
  const router = createPages()
  // A reader who opens another page goes on at its heading, as if the page had been loaded.
  router.subscribe('onResolved', ({ fromLocation, pathChanged }) => {
    if (!fromLocation || !pathChanged) return
    const place = document.querySelector<HTMLElement>('h1') ?? document.getElementById('main')
    place?.focus({ preventScroll: true })
  })
  const onSignedOut = () => {
    const { pathname, href } = router.state.location
    if (pathname !== '/login') void router.navigate({ to: '/login', search: { next: href } })
  }
  const queries = createQueries((error) => toasts.show('bad', error), onSignedOut)
  createRoot(root).render(
    <StrictMode>
      <I18nProvider initial={{ language, dictionary }}>
        <ErrorBoundary>
          <ToastsContext value={toasts}>
            <QueryClientProvider client={queries}>
              <RouterProvider router={router} />
            </QueryClientProvider>
          </ToastsContext>
        </ErrorBoundary>
      </I18nProvider>
    </StrictMode>,
  )
}

const root = document.getElementById('root')
if (root) void start(root)
