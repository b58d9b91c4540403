import { isIn, own, ownGetter, replaceMethod, sealed } from './own.ts'

/**
 * Takes the addresses of links that lead out of the page: a browser looks a host up, or connects to
 * it, when a pointer comes near a link, and the middle button opens one in spite of the sandbox.
 * An observer hears of a change before the browser acts on the event that made it.
 */

const XLINK = 'http://www.w3.org/1999/xlink'
const MATHML = 'http://www.w3.org/1998/Math/MathML'
const LINK = sealed(/^(?:a|area)$/)
/** An animation can give an address to a link of SVG without a change of its attributes. */
const ANIMATION = sealed(/^(?:animate|set)$/)
const ADDRESS = sealed(/href\s*$/i)
const SOUGHT = '[*|href], animate, set'

const findIn = {
  document: own(Document.prototype.querySelectorAll),
  shadow: own(DocumentFragment.prototype.querySelectorAll),
}
const localName = ownGetter<string>(Element.prototype, 'localName')
const namespaceOf = ownGetter<string | null>(Element.prototype, 'namespaceURI')
const read = own(Element.prototype.getAttribute)
const readOf = own(Element.prototype.getAttributeNS)
const remove = own(Element.prototype.removeAttribute)
const removeOf = own(Element.prototype.removeAttributeNS)

const leadsOut = (address: string | null): boolean => address !== null && address[0] !== '#'

function strip(one: Element): void {
  const name = localName(one)
  if (isIn(ANIMATION, name) && isIn(ADDRESS, read(one, 'attributeName') ?? '')) {
    remove(one, 'attributeName')
  }
  if (!isIn(LINK, name) && namespaceOf(one) !== MATHML) return
  if (leadsOut(read(one, 'href'))) remove(one, 'href')
  if (leadsOut(readOf(one, XLINK, 'href'))) removeOf(one, XLINK, 'href')
}

function stripAll(found: NodeListOf<Element>): void {
  for (let at = 0; ; at += 1) {
    const one = found[at]
    if (!one) return
    strip(one)
  }
}

const Observer = MutationObserver
const observe = own(MutationObserver.prototype.observe)
/** Without a prototype, where a page could add to what is observed. */
const ALL: MutationObserverInit = Object.assign(Object.create(null), {
  attributes: true,
  childList: true,
  subtree: true,
})

/** From now on no link of the document, nor of a shadow in it, leads out. */
export function stripLinks(): void {
  const inDocument = () => stripAll(findIn.document(document, SOUGHT))
  observe(new Observer(inDocument), document, ALL)
  // A click by a script is acted on before an observer hears of anything.
  addEventListener('click', inDocument, { capture: true })
  replaceMethod(
    Element.prototype,
    'attachShadow',
    (attach) =>
      function (this: Element, given) {
        const { mode, delegatesFocus, slotAssignment } = Object(given) as ShadowRootInit
        // A copy of an element would bring one that nobody observes.
        const init = { mode, delegatesFocus, slotAssignment, serializable: false, clonable: false }
        const root = own(attach as Attach)(this, init as ShadowRootInit)
        observe(new Observer(() => stripAll(findIn.shadow(root, SOUGHT))), root, ALL)
        return root
      },
  )
}

type Attach = (this: Element, init: ShadowRootInit) => ShadowRoot
