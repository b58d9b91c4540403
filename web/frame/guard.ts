import { apply, isIn, own, replaced, replaceMethod, sealed } from './own.ts'

/**
 * Takes from a page what the frame's policy does not stop: hints that look up or connect to a host
 * (`<link rel=dns-prefetch>`, `preconnect`), connections of WebRTC, and frames inside, which would
 * have a fresh copy of both. The policy refuses to load another page, but a browser connects to its
 * host before it asks the policy; so nothing may begin to load one.
 */

const TAGS = [
  'link',
  'meta',
  'iframe',
  'frame',
  'frameset',
  'object',
  'embed',
  'portal',
  'fencedframe',
]
const NAMES = TAGS.join('|')
const MARKUP = sealed(new RegExp(`<(/?)(?=(?:${NAMES})(?:[\\s/>]|$))`, 'gi'))
/** A tag of XML may have a prefix, so such texts lose every one that a prefix precedes. */
const PREFIXED = sealed(new RegExp(`<(/?)(?=[^\\s<>/]*:(?:${NAMES})(?:[\\s/>]|$))`, 'gi'))
/** An entity of XML may spell a tag in another way. */
const ENTITY = sealed(/<!(?=entity)/gi)
const TAKEN = sealed(new RegExp(`^(?:.*:)?(?:${NAMES})$`, 'is'))
/** The name, read once: an object could give another one when it is asked again. */
const safeName = (given: unknown): string => {
  const name = `${given}`
  return isIn(TAKEN, name) ? 'x-taken' : name
}

/** The text with these tags under names without a meaning. */
export const harmless = (text: string): string =>
  replaced(replaced(replaced(text, MARKUP, '<$1x-'), PREFIXED, '<$1x-'), ENTITY, '<!x-')

function refuse(holder: object, name: string): void {
  replaceMethod(holder, name, () => () => {
    throw new TypeError(`${name} is not available here`)
  })
}

/** Trusted Types go last, so that nobody makes a second policy. */
const GONE = /^(?:webkit|moz)?RTC|^WebTransport$|^XSLTProcessor$|^(?:Shared)?Worker$|^trustedTypes$/

/** Takes all of it away; false where the browser knows no Trusted Types, which see every markup. */
export function guard(): boolean {
  const { trustedTypes } = globalThis as unknown as { trustedTypes?: Types }
  if (!trustedTypes) return false
  trustedTypes.createPolicy('default', {
    createHTML: harmless,
    createScript: (text) => text,
    createScriptURL: (url) => url,
  })
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    if (GONE.test(name)) {
      Object.defineProperty(globalThis, name, { value: undefined, configurable: false })
    }
  }
  guardMakers()
  return true
}

interface Types {
  createPolicy(name: string, rules: Readonly<Record<string, (text: string) => string>>): unknown
}

/** The time that the page around has to take the frame away; it needs no more than a task. */
const HOLD_MS = 1_500

/** What begins to leave is held until the frame is taken away. */
export function stay(onLeaving: () => void): void {
  const { now } = performance
  const clock = now.bind(performance)
  const stop = own(Event.prototype.stopImmediatePropagation)
  addEventListener(
    'beforeunload',
    (event) => {
      stop(event)
      onLeaving()
      const end = clock() + HOLD_MS
      while (clock() < end);
    },
    { capture: true },
  )
}

/** Ways to an element or a document that no markup passes through. */
const REFUSED = /^(?:write|writeln|open|createDocument|set\w*HTML\w*|parse\w*HTML\w*|stream\w*)$/

function guardMakers(): void {
  const { prototype } = Document
  replaceMethod(
    prototype,
    'createElement',
    (make) =>
      function (this: Document, name) {
        return apply(make, this, [safeName(name)])
      },
  )
  replaceMethod(
    prototype,
    'createElementNS',
    (make) =>
      function (this: Document, space, name) {
        return apply(make, this, [space, safeName(name)])
      },
  )
  // A class may extend a built-in element only where its options say so.
  replaceMethod(
    CustomElementRegistry.prototype,
    'define',
    (define) =>
      function (this: CustomElementRegistry, name, made) {
        return apply(define, this, [name, made])
      },
  )
  const holders = [Element, ShadowRoot, DOMImplementation].map((made) => made.prototype)
  for (const holder of [...holders, prototype, Document]) {
    for (const name of Object.getOwnPropertyNames(holder)) {
      if (REFUSED.test(name)) refuse(holder, name)
    }
  }
}
