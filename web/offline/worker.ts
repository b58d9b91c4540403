// The console's service worker: opens the console also while its server is away. It keeps the page
// and the scripts of one build, the same for everybody, and no answer with anything of a person.

/** Set when the console is built: a mark of the build, its first script, and what a chat needs. */
declare const BUILD: string
declare const MAIN: string
declare const ASSETS: string[]

interface Extendable extends Event {
  waitUntil(work: Promise<unknown>): void
}

interface Fetched extends Extendable {
  readonly request: Request
  readonly preloadResponse: Promise<Response | undefined>
  respondWith(answer: Promise<Response>): void
}

/** The scope of a service worker, which the types of pages leave out. */
interface Scope {
  readonly clients: { claim(): Promise<void> }
  readonly registration: ServiceWorkerRegistration
  skipWaiting(): Promise<void>
  addEventListener(type: 'install' | 'activate', listener: (event: Extendable) => void): void
  addEventListener(type: 'fetch', listener: (event: Fetched) => void): void
}

const scope = globalThis as unknown as Scope
const NAME = 'console-'
const CACHE = NAME + BUILD
const PAGE = '/app'

async function install(): Promise<void> {
  const page = await fetch(PAGE, { cache: 'no-cache' })
  // A server that has changed since, or a gateway that asks who it is, is tried again later.
  if (page.redirected || !(await page.clone().text()).includes(MAIN)) throw new Error(PAGE)
  const cache = await caches.open(CACHE)
  await cache.addAll(ASSETS)
  await cache.put(PAGE, page)
  await scope.skipWaiting()
}

async function activate(): Promise<void> {
  for (const name of await caches.keys()) {
    if (name.startsWith(NAME) && name !== CACHE) await caches.delete(name)
  }
  // A page is asked for while the worker starts.
  await scope.registration.navigationPreload?.enable()
  await scope.clients.claim()
}

/** What the server answers; what is kept where it cannot be reached, or its gateway says so. */
async function orKept(ask: () => Promise<Response>, key: Request | string): Promise<Response> {
  const answer = await ask().catch(() => Response.error())
  const isAway = answer.type === 'error' || (answer.status > 501 && !answer.headers.has(OURS))
  return isAway ? ((await (await caches.open(CACHE)).match(key)) ?? answer) : answer
}

/** Every error of the server has it, and none of a gateway. */
const OURS = 'x-error-code'

/** Keeps what a page loads of its build beside what a chat needs. */
async function keep(request: Request, answer: Response): Promise<void> {
  const cache = await caches.open(CACHE)
  if (!(await cache.match(request))) await cache.put(request, answer)
}

scope.addEventListener('install', (event) => event.waitUntil(install()))
scope.addEventListener('activate', (event) => event.waitUntil(activate()))
scope.addEventListener('fetch', (event) => {
  const { request } = event
  const { origin, pathname } = new URL(request.url)
  if (request.method !== 'GET' || origin !== location.origin) return
  if (request.mode === 'navigate') {
    if (pathname !== PAGE && !pathname.startsWith(`${PAGE}/`)) return
    const ask = async () => (await event.preloadResponse) ?? fetch(request)
    event.respondWith(orKept(ask, PAGE))
  } else if (pathname.startsWith('/assets/')) {
    const ask = async () => {
      const answer = await fetch(request)
      if (answer.headers.get('cache-control')?.includes('immutable') && answer.status === 200) {
        event.waitUntil(keep(request, answer.clone()))
      }
      return answer
    }
    event.respondWith(orKept(ask, request))
  }
})
