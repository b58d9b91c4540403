import { Elysia } from 'elysia'
import { AppError, appError } from '../../core/errors.ts'
import type { Shares, ShownShare } from '../../features/shares/service.ts'
import type { OpenShare } from '../../features/shares/store.ts'

export interface VisitorPageParts {
  readonly services: { readonly shares: Pick<Shares, 'open'> }
  /** The chat page with places for the name and the look, and the script of the widget. */
  readonly pages: { readonly share: string | null; readonly widget: string | null }
}

const HIDDEN = { detail: { hide: true } } as const

type Headers = Record<string, string | number>

/** The chat page of a share, and the script that embeds it in a site. */
export function visitorPages({ services: { shares }, pages }: VisitorPageParts) {
  async function chat(token: string, headers: Headers): Promise<Response> {
    if (pages.share === null) throw appError('console_not_built')
    const share: Shown = await shares.open(token).catch(goneOf)
    // The policy says who may frame the page; the older header knows no list.
    delete headers['x-frame-options']
    return new Response(filled(pages.share, share), {
      status: share.gone ? 404 : 200,
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': policyOf(share),
        'cache-control': 'no-store',
        'cross-origin-resource-policy': 'cross-origin',
        'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
        'x-robots-tag': 'noindex',
      },
    })
  }

  function widget(): Response {
    if (pages.widget === null) throw appError('console_not_built')
    return new Response(pages.widget, {
      headers: {
        'content-type': 'text/javascript; charset=utf-8',
        'cache-control': 'public, max-age=300',
        'cross-origin-resource-policy': 'cross-origin',
      },
    })
  }

  return new Elysia({ name: 'visitor-pages' })
    .get('/s/:token', ({ params, set }) => chat(params.token, set.headers), HIDDEN)
    .head('/s/:token', ({ params, set }) => chat(params.token, set.headers), HIDDEN)
    .get('/widget.js', widget, HIDDEN)
    .head('/widget.js', widget, HIDDEN)
}

type Shown = Pick<ShownShare, 'appName' | 'look' | 'icon' | 'greeting' | 'starters' | 'paused'> & {
  readonly origins: OpenShare['origins']
  /** Whether the link leads to no share any more: the page says so, in the visitor's language. */
  readonly gone?: true
}

/** A page without anything of anybody, which any site may frame. */
const GONE: Shown = {
  appName: 'Moonbase',
  icon: null,
  greeting: null,
  starters: [],
  paused: false,
  look: { color: null, position: 'right', language: 'auto', title: null },
  origins: ['*'],
  gone: true,
}

function goneOf(error: unknown): Shown {
  if (error instanceof AppError && error.code === 'not_found') return GONE
  throw error
}

/** The page runs nothing but its own script, and only the sites of the share may frame it. */
const policyOf = ({ origins }: Pick<OpenShare, 'origins'>): string =>
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
  "img-src 'self' data:; font-src 'self'; frame-src 'self'; " +
  `base-uri 'none'; form-action 'none'; frame-ancestors ${["'self'", ...origins].join(' ')}`

/** The page with what its tenant has written, which is free text. */
function filled(page: string, share: Shown): string {
  const { appName, look, icon, greeting, starters, paused, gone } = share
  const { color, language } = look
  const face = { icon, greeting, starters, paused, gone, color, language }
  const values: Readonly<Record<string, string>> = {
    '{app}': escaped(look.title ?? appName),
    // In a block of data no other sign ends the element.
    '"{face}"': JSON.stringify(face).replaceAll('<', '\\u003c'),
  }
  return page.replaceAll(/\{app\}|"\{face\}"/g, (place) => values[place] ?? '')
}

/** Names of apps are free text. */
const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`)
