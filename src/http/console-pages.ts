import { existsSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { staticPlugin } from '@elysiajs/static'
import { type AnyElysia, Elysia } from 'elysia'
import { appError } from '../core/errors.ts'
import { MANUAL_PATHS } from '../core/manual.ts'
import { PAGE_HEADERS } from './entry.ts'

/**
 * Content security policy of the console: resources of this server only, no inline script or style,
 * no framing. Images and sounds may also be data of the page itself.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self' data: blob:",
  "font-src 'self'",
  "manifest-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-src 'self'",
  "frame-ancestors 'none'",
].join('; ')

/**
 * Policy of the frame in which drawings and pages of a model's answer are shown: a document without
 * an origin, which runs what it is given and reaches nothing.
 */
const FRAME_POLICY = [
  'sandbox allow-scripts',
  "default-src 'none'",
  "script-src 'unsafe-inline' 'self'",
  "style-src 'unsafe-inline'",
  'img-src data: blob:',
  'font-src data:',
  "connect-src 'none'",
  "form-action 'none'",
  "frame-src 'none'",
  "base-uri 'none'",
  "frame-ancestors 'self'",
].join('; ')

const HTML_HEADERS = {
  ...PAGE_HEADERS,
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': POLICY,
  'referrer-policy': 'same-origin',
  'cache-control': 'no-cache',
  vary: 'accept-encoding',
} as const

/** The name of an asset contains the hash of its content, so it never changes. */
const ASSET_HEADERS = {
  'cache-control': 'public, max-age=31536000, immutable',
  vary: 'accept-encoding',
} as const

/** The console asks for it with a mark of its content, so it may be kept as the assets are. */
const FRAME_HEADERS = {
  ...ASSET_HEADERS,
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': FRAME_POLICY,
  'referrer-policy': 'no-referrer',
  'x-dns-prefetch-control': 'off',
  'permissions-policy':
    'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()',
} as const

/** Asked for anew at every visit; what it keeps, it asks this server for. */
const WORKER_HEADERS = {
  'content-type': 'text/javascript; charset=utf-8',
  'content-security-policy': "default-src 'none'; connect-src 'self'",
  'cache-control': 'no-cache',
} as const

/** The addresses of the console; the page itself knows what to show for each. */
const PAGES = ['/', '/login', ...MANUAL_PATHS, '/app', '/app/*']
const HIDDEN = { detail: { hide: true } } as const
const TWINS = /\.(br|gz)$/

/** Unknown addresses below these are errors of the API, not pages. */
const API = /^\/(v1|console|auth|assets|ollama)(\/|$)/

/** Where pages that the server writes itself find the style of the console; null when not built. */
export interface PageHead {
  readonly sheet: string | null
  /** Sets theme and language before the first paint. */
  readonly theme: string | null
}

export interface ConsolePages {
  readonly head: PageHead
  /** The chat page for visitors, and the script that puts it on a site; null when not built. */
  readonly share: string | null
  readonly widget: string | null
  readonly routes: AnyElysia
  /**
   * The answer to an unknown address: for a browser that opens a page the console, which shows "not
   * found" in the reader's language; null for every other client.
   */
  readonly missing: (request: Request, path: string) => Response | null
}

/**
 * Serves the console from the folder that scripts/build-web.ts wrote, or that the executable
 * contains; null when it was not built. Pages have routes of their own, so that an unknown address
 * stays an error.
 */
export async function consolePages(folder: string | null): Promise<ConsolePages> {
  const page = await pageHandler(folder)
  const pages = new Elysia({ name: 'console-pages' })
  const shown = (context: { request: Request }) => page(context)
  for (const path of PAGES) pages.get(path, shown, HIDDEN).head(path, shown, HIDDEN)
  const textOf = async (name: string) =>
    folder !== null && existsSync(join(folder, name)) ? Bun.file(join(folder, name)).text() : null
  const index = (await textOf('index.html')) ?? ''
  return {
    head: {
      sheet: /href="(\/assets\/app-[^"]+\.css)"/.exec(index)?.[1] ?? null,
      theme: /src="(\/assets\/theme-[^"]+\.js)"/.exec(index)?.[1] ?? null,
    },
    share: await textOf('share.html'),
    widget: await textOf('widget.js'),
    routes: (folder === null ? pages : pages.use(await assets(join(folder, 'assets'))))
      .use(frameRoutes(await textOf('frame.html')))
      .use(workerRoutes(await textOf('sw.js'))),
    missing(request, path) {
      const wanted = request.headers.get('accept')?.includes('text/html')
      if (folder === null || request.method !== 'GET' || !wanted || API.test(path)) return null
      return page({ request }, 404)
    },
  }
}

/** The page in a frame; only pages of this server may frame it. */
function frameRoutes(page: string | null) {
  function frame({ set }: { set: { headers: Record<string, string | number> } }): Response {
    if (page === null) throw appError('console_not_built')
    // The policy says who may frame it; the older header knows only this or nobody.
    delete set.headers['x-frame-options']
    return new Response(page, { headers: FRAME_HEADERS })
  }
  return new Elysia({ name: 'frame' }).get('/frame', frame, HIDDEN).head('/frame', frame, HIDDEN)
}

/** The script with which a browser opens the console while this server is away. */
function workerRoutes(script: string | null) {
  function worker(): Response {
    if (script === null) throw appError('console_not_built')
    return new Response(script, { headers: WORKER_HEADERS })
  }
  return new Elysia({ name: 'worker' }).get('/sw.js', worker, HIDDEN).head('/sw.js', worker, HIDDEN)
}

async function pageHandler(folder: string | null) {
  if (folder === null) {
    return (): Response => {
      throw appError('console_not_built')
    }
  }
  const path = join(folder, 'index.html')
  const plain = await Bun.file(path).bytes()
  const forms = new Map<Encoding | null, Uint8Array<ArrayBuffer>>([[null, plain]])
  for (const [encoding, suffix] of ENCODINGS) {
    forms.set(encoding, await Bun.file(path + suffix).bytes())
  }
  const hash = new Bun.CryptoHasher('sha256').update(plain).digest('hex').slice(0, 16)
  return ({ request }: { request: Request }, status = 200): Response => {
    const encoding = preferredEncoding(request)
    const headers = { ...HTML_HEADERS, ...marks(hash, encoding) }
    if (status === 200 && isKnown(request, headers.etag)) {
      return new Response(null, { status: 304, headers })
    }
    return new Response(forms.get(encoding) ?? plain, { status, headers })
  }
}

/**
 * The static plugin serves the plain files; clients that accept an encoding get compressed ones.
 * Only names that existed at the start pass, so no other path reaches the file system. One route
 * for all of them costs nothing at start; the plugin's route per file took a tenth of the start.
 */
async function assets(folder: string): Promise<AnyElysia> {
  const names = new Set(readdirSync(folder))
  const files = await staticPlugin({
    assets: folder,
    prefix: '/assets',
    alwaysStatic: false,
    indexHTML: false,
    headers: ASSET_HEADERS,
    etag: false,
    silent: true,
    ...HIDDEN,
  })
  return new Elysia({ name: 'console-assets' })
    .onBeforeHandle(({ request, path }) => {
      const name = path.slice('/assets/'.length)
      if (TWINS.test(name)) throw appError('not_found', { what: 'path' })
      if (!names.has(name) && names.has(`${name}.gz`)) return packed(join(folder, name), request)
      if (!names.has(name)) throw appError('not_found', { what: 'path' })
      const encoding = preferredEncoding(request)
      const suffix = encoding && ENCODINGS.get(encoding)
      if (!suffix || !names.has(name + suffix)) return undefined
      const file = Bun.file(join(folder, name))
      const headers = { ...ASSET_HEADERS, 'content-type': file.type, ...marks(name, encoding) }
      if (isKnown(request, headers.etag)) return new Response(null, { status: 304, headers })
      return new Response(Bun.file(join(folder, name + suffix)), { headers })
    })
    .use(files)
}

/** A file that is stored compressed alone; unpacked piece by piece for a client that cannot. */
function packed(path: string, request: Request): Response {
  const bytes = Bun.file(`${path}.gz`)
  const encoding = preferredEncoding(request, ['gzip'])
  const headers = {
    ...ASSET_HEADERS,
    'content-type': Bun.file(path).type,
    ...marks(basename(path), encoding),
  }
  if (isKnown(request, headers.etag)) return new Response(null, { status: 304, headers })
  if (encoding) return new Response(bytes, { headers })
  return new Response(bytes.stream().pipeThrough(new DecompressionStream('gzip')), { headers })
}

/** Each encoding needs its own ETag. */
const marks = (hash: string, encoding: Encoding | null) => ({
  etag: `"${hash}${encoding ? `-${encoding}` : ''}"`,
  ...(encoding ? { 'content-encoding': encoding } : {}),
})

const isKnown = (request: Request, etag: string): boolean =>
  (request.headers.get('if-none-match') ?? '').split(',').some((tag) => tag.trim() === etag)

export type Encoding = 'br' | 'gzip'

/** Compressed forms beside a file, the smaller first, with their suffixes. */
const ENCODINGS: ReadonlyMap<Encoding, string> = new Map([
  ['br', '.br'],
  ['gzip', '.gz'],
])

/** The best encoding that the client accepts (RFC 9110, section 12.5.3); null: none. */
export function preferredEncoding(
  request: Request,
  among: readonly Encoding[] = [...ENCODINGS.keys()],
): Encoding | null {
  const header = request.headers.get('accept-encoding') ?? ''
  const accepted = new Set(
    header
      .toLowerCase()
      .split(',')
      .map((item) => item.split(';').map((part) => part.trim()))
      .filter(([, quality]) => !/^q=0(\.0*)?$/.test(quality ?? ''))
      .map(([name]) => name ?? ''),
  )
  return among.find((name) => accepted.has(name)) ?? null
}
