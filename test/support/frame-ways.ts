import ways from '../fixtures/frame-ways.json'

/** Ways in which a page may try to reach another host, or to name one to a resolver. */
export interface Way {
  readonly name: string
  /** The page; `HOST` is the host that it tries to reach. */
  readonly html: string
}

export const WAYS: readonly Way[] = ways

const HEAD = '<!doctype html><title>way</title><body>'

/** The page of one way, which says when it has tried. */
export const pageOf = ({ html }: Way, host: string): string =>
  `${HEAD}${html.replaceAll('HOST', host)}<p id="tried">tried</p></body>`
