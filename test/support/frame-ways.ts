import type { Locator } from 'playwright-core'
import ways from '../fixtures/frame-ways.json'

/** Ways in which a page may try to reach another host, or to name one to a resolver. */
export interface Way {
  readonly name: string
  /** The page; `HOST` is the host that it tries to reach. */
  readonly html: string
  /** What a person does at the element `a` then. */
  readonly pointer?: 'above' | 'left' | 'middle'
}

export const WAYS = ways as readonly Way[]

const HEAD = '<!doctype html><title>way</title><body>'

/** The page of one way, which says when it has tried. */
export const pageOf = ({ html }: Way, host: string): string =>
  `${HEAD}${html.replaceAll('HOST', host)}<p id="tried">tried</p></body>`

/** Moves the pointer to the element of a way, and presses its button there. */
export async function point(at: Locator, { pointer }: Way): Promise<void> {
  if (!pointer) return
  await at.hover({ force: true, timeout: POINT_MS })
  if (pointer !== 'above') await at.click({ button: pointer, force: true, timeout: POINT_MS })
}

const POINT_MS = 5_000
