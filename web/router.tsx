import {
  createRootRoute,
  createRoute,
  createRouter,
  Outlet,
  type RouteComponent,
  redirect,
} from '@tanstack/react-router'
import { loadPageTexts, preferredLanguage } from './i18n/index.tsx'
import { lazyPart } from './lib/lazy-part.ts'
import { Missing } from './pages/missing.tsx'
import { Broken } from './shell/boundary.tsx'
import { CHAT } from './shell/nav.ts'
import { Shell } from './shell/shell.tsx'
import { Loading } from './ui/state.tsx'
import { ToastRegion } from './ui/toasts.tsx'

/** A page beside the chat and the sign-in, which brings the texts of pages with it. */
const lazy = <T extends Record<string, unknown>>(load: () => Promise<T>, name: keyof T & string) =>
  lazyPart(async () => {
    const [page] = await Promise.all([load(), loadPageTexts(preferredLanguage())])
    return page
  }, name)

const root = createRootRoute({
  component: () => (
    <>
      <Outlet />
      <ToastRegion />
    </>
  ),
  notFoundComponent: () => (
    <main id="main">
      <Missing />
    </main>
  ),
})
const shell = createRoute({ getParentRoute: () => root, path: '/app', component: Shell })

const start = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: lazyPart(() => import('./pages/start.tsx'), 'Start'),
})
const login = createRoute({
  getParentRoute: () => root,
  path: '/login',
  component: lazyPart(() => import('./pages/login.tsx'), 'Login'),
})
const guide = lazy(() => import('./pages/guide.tsx'), 'Guide')
const manual = [
  createRoute({ getParentRoute: () => root, path: '/docs', component: guide }),
  createRoute({ getParentRoute: () => root, path: '/docs/$page', component: guide }),
  createRoute({
    getParentRoute: () => root,
    path: '/docs/reference',
    component: lazy(() => import('./pages/reference.tsx'), 'Reference'),
  }),
]

const page = (path: string, component: RouteComponent) =>
  createRoute({ getParentRoute: () => shell, path, component })

/** Another address of a page. */
const moved = (path: string, to: string) =>
  createRoute({
    getParentRoute: () => shell,
    path,
    beforeLoad: ({ search }) => {
      throw redirect({ to, search, replace: true })
    },
  })
const session = createRoute({
  getParentRoute: () => shell,
  path: '/sessions/$id',
  beforeLoad: ({ params }) => {
    throw redirect({ to: CHAT, search: { session: params.id }, replace: true })
  },
})

/** Shown while a page loads; has its margins, so that nothing shifts. */
const Pending = () => (
  <div className="page">
    <Loading />
  </div>
)

const pages = [
  // Inside the frame, so that the navigation is visible.
  page('$', Missing),
  moved('/studio', CHAT),
  moved('/home', '/app/activity'),
  moved('/sessions', CHAT),
  session,
  page(
    '/activity',
    lazy(() => import('./pages/home.tsx'), 'Home'),
  ),
  page(
    '/',
    lazyPart(() => import('./pages/studio.tsx'), 'Studio'),
  ),
  page(
    '/assistants',
    lazy(() => import('./pages/assistants.tsx'), 'Assistants'),
  ),
  page(
    '/keys',
    lazy(() => import('./pages/keys.tsx'), 'Keys'),
  ),
  page(
    '/apps',
    lazy(() => import('./pages/apps.tsx'), 'Apps'),
  ),
  page(
    '/apps/$id',
    lazy(() => import('./pages/app.tsx'), 'AppPage'),
  ),
  page(
    '/kb',
    lazy(() => import('./pages/kb.tsx'), 'Kb'),
  ),
  page(
    '/kb/$doc',
    lazy(() => import('./pages/kb-doc.tsx'), 'KbDocPage'),
  ),
  page(
    '/devices',
    lazy(() => import('./pages/devices.tsx'), 'Devices'),
  ),
  page(
    '/devices/$id',
    lazy(() => import('./pages/device.tsx'), 'DevicePage'),
  ),
  page(
    '/tools',
    lazy(() => import('./pages/tools.tsx'), 'Tools'),
  ),
  page(
    '/provider',
    lazy(() => import('./pages/provider.tsx'), 'ProviderPage'),
  ),
  page(
    '/logs',
    lazy(() => import('./pages/logs.tsx'), 'Logs'),
  ),
  page(
    '/usage',
    lazy(() => import('./pages/usage.tsx'), 'UsagePage'),
  ),
  page(
    '/schedules',
    lazy(() => import('./pages/schedules.tsx'), 'Schedules'),
  ),
  page(
    '/personas',
    lazy(() => import('./pages/personas.tsx'), 'Personas'),
  ),
  page(
    '/memory',
    lazy(() => import('./pages/memory.tsx'), 'MemoryPage'),
  ),
  page(
    '/webhooks',
    lazy(() => import('./pages/webhooks.tsx'), 'Webhooks'),
  ),
  page(
    '/prompts',
    lazy(() => import('./pages/prompts.tsx'), 'Prompts'),
  ),
  page(
    '/settings',
    lazy(() => import('./pages/settings.tsx'), 'SettingsPage'),
  ),
  page(
    '/account',
    lazy(() => import('./pages/account.tsx'), 'Account'),
  ),
  page(
    '/welcome',
    lazy(() => import('./pages/server.tsx'), 'Welcome'),
  ),
  page(
    '/system',
    lazy(() => import('./pages/server.tsx'), 'OverviewPage'),
  ),
  page(
    '/system/models',
    lazy(() => import('./pages/server.tsx'), 'ModelsPage'),
  ),
  page(
    '/system/voice',
    lazy(() => import('./pages/server.tsx'), 'VoicePage'),
  ),
  page(
    '/system/mail',
    lazy(() => import('./pages/server.tsx'), 'MailPage'),
  ),
  page(
    '/system/people',
    lazy(() => import('./pages/server.tsx'), 'PeoplePage'),
  ),
  page(
    '/system/limits',
    lazy(() => import('./pages/server.tsx'), 'LimitsPage'),
  ),
  page(
    '/members',
    lazy(() => import('./pages/members.tsx'), 'Members'),
  ),
  page(
    '/invitations',
    lazy(() => import('./pages/invitations.tsx'), 'Invitations'),
  ),
  page(
    '/audit',
    lazy(() => import('./pages/audit.tsx'), 'AuditPage'),
  ),
  page(
    '/transfer',
    lazy(() => import('./pages/transfer.tsx'), 'Transfer'),
  ),
]

export const createPages = () =>
  createRouter({
    routeTree: root.addChildren([start, login, ...manual, shell.addChildren(pages)]),
    defaultPreload: 'intent',
    defaultNotFoundComponent: Missing,
    defaultErrorComponent: Broken,
    defaultPendingComponent: Pending,
    scrollRestoration: true,
  })
