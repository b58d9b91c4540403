import { guard, harmless, stay } from './guard.ts'
import { stripLinks } from './links.ts'
import type { FromFrame, Order, ToFrame } from './messages.ts'

/**
 * Runs inside the frame, which has no origin and may fetch nothing. One message brings a port, and
 * over it come a ping now and then and one thing to show.
 */

const script = document.currentScript as HTMLScriptElement
const isWalled = guard()
stripLinks()
const LINE_CHARS_MAX = 300
/** Below a drawing, as a browser leaves above it. */
const MARGIN = 8

function lineOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, LINE_CHARS_MAX)
}

/** Loads the library of a drawing; a script of this server needs no origin. */
function load(source: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const made = document.createElement('script')
  made.src = source
  made.onload = () => resolve()
  made.onerror = () => reject(new Error('the library cannot be loaded'))
  document.head.append(made)
  return promise
}

async function draw({ kind, text, dark }: Order, tell: (said: FromFrame) => void): Promise<void> {
  const source = script.getAttribute(`data-${kind}`)
  if (source === null) throw new Error(`unknown: ${kind}`)
  if (!globalThis.moonbaseDraw) await load(source)
  const place = document.createElement('div')
  document.body.replaceChildren(place)
  const svg = await globalThis.moonbaseDraw?.(place, text, dark)
  new ResizeObserver(() =>
    tell({
      is: 'height',
      height: Math.ceil(place.getBoundingClientRect().bottom + scrollY) + MARGIN,
    }),
  ).observe(place)
  tell({ is: 'drawn', svg: svg ?? null })
}

/** Puts a page in place of this one; its scripts run in their order. */
function run(text: string): void {
  const page = new DOMParser().parseFromString(harmless(text), 'text/html')
  for (const { name, value } of page.documentElement.attributes) {
    document.documentElement.setAttribute(name, value)
  }
  const scripts = [...page.scripts]
  const held = scripts.map((old) => {
    const place = document.createComment('')
    old.replaceWith(place)
    return { old, place }
  })
  document.head.replaceChildren(...page.head.childNodes)
  document.body.replaceWith(document.adoptNode(page.body))
  for (const { old, place } of held) {
    const made = document.createElement('script')
    for (const { name, value } of old.attributes) made.setAttribute(name, value)
    made.text = old.text
    place.replaceWith(made)
  }
  document.dispatchEvent(new Event('DOMContentLoaded', { bubbles: true }))
  dispatchEvent(new Event('load'))
}

function start(port: MessagePort): void {
  const post = port.postMessage.bind(port)
  const tell = (said: FromFrame) => post(said)
  stay(() => tell({ is: 'leaving' }))
  async function show(order: Order): Promise<void> {
    // A page of a model expects black on white.
    const isDark = order.dark && order.kind !== 'html'
    document.documentElement.style.colorScheme = isDark ? 'dark' : 'light'
    if (order.kind !== 'html') return draw(order, tell)
    if (!isWalled) return tell({ is: 'unwalled' })
    tell({ is: 'drawn', svg: null })
    run(order.text)
  }
  port.onmessage = ({ data }: MessageEvent<ToFrame>) => {
    if (data.is === 'ping') tell({ is: 'pong' })
    else show(data).catch((error) => tell({ is: 'failed', line: lineOf(error) }))
  }
}

function onMessage({ source, ports: [port] }: MessageEvent): void {
  if (source !== parent || !port) return
  removeEventListener('message', onMessage)
  start(port)
}
addEventListener('message', onMessage)
