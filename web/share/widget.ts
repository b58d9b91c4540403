import { type Look, lookOf } from '../api/look.ts'
import { inkOn } from './face.ts'
import { wordsIn } from './words.ts'

/**
 * Puts the chat of a share on any site:
 * `<script src="https://this.server/widget.js" data-token="…" async></script>`.
 * The chat is a frame of this server, so that scripts and styles of the site do not affect it.
 * `window.moonbase` opens and closes it, and asks in it.
 */

const script = document.currentScript as HTMLScriptElement | null
const token = script?.dataset.token ?? ''
const origin = script ? new URL(script.src).origin : ''

/** Set one by one: a policy of the site may refuse style sheets and attributes. */
const style = (element: HTMLElement, rules: Readonly<Record<string, string>>) => {
  for (const [name, value] of Object.entries(rules)) element.style.setProperty(name, value)
}

const CORNER = { position: 'fixed', 'z-index': '2147483000' } as const
const BUBBLE = {
  ...CORNER,
  bottom: '16px',
  height: '48px',
  padding: '0 18px',
  border: '0',
  'border-radius': '24px',
  background: '#2f5fd0',
  color: '#fff',
  font: '500 16px/1 system-ui, sans-serif',
  cursor: 'pointer',
  'box-shadow': '0 2px 12px rgb(0 0 0 / 25%)',
}
const WINDOW = {
  ...CORNER,
  bottom: '76px',
  width: 'min(400px, calc(100vw - 32px))',
  height: 'min(600px, calc(100dvh - 100px))',
  border: '0',
  'border-radius': '16px',
  background: 'Canvas',
  'box-shadow': '0 4px 24px rgb(0 0 0 / 30%)',
}

const LINE = { ...WINDOW, height: 'auto', margin: '0', padding: '16px', color: 'CanvasText' }

/** A loaded page has said so long before. */
const READY_MS = 1_000

interface Panel {
  readonly element: HTMLElement
  /** Asks in the chat, once it is there. */
  readonly send: (text: string) => void
}

/** The chat in a frame, or a line where the browser or the server refuses it. */
function createPanel({ position, language, title }: Look): Panel {
  const words = wordsIn(language)
  const side = { [position]: '16px' }
  const element = document.createElement('div')
  const frame = document.createElement('iframe')
  frame.src = `${origin}/s/${encodeURIComponent(token)}`
  frame.title = title ?? words.open
  style(frame, { ...WINDOW, ...side })
  element.append(frame)
  let isReady = false
  const waiting: string[] = []
  const pass = (text: string) => frame.contentWindow?.postMessage({ moonbaseSend: text }, origin)
  addEventListener('message', ({ source }) => {
    if (source !== frame.contentWindow || isReady) return
    isReady = true
    for (const text of waiting.splice(0)) pass(text)
  })
  function refuse(): void {
    if (isReady) return
    const line = document.createElement('p')
    line.textContent = words.refused
    style(line, { ...LINE, ...side })
    element.replaceChildren(line)
    element.setAttribute('role', 'alert')
  }
  // A refused frame loads, too: an error page of the browser.
  frame.addEventListener('load', () => setTimeout(refuse, READY_MS), { once: true })
  return { element, send: (text) => (isReady ? pass(text) : waiting.push(text)) }
}

function createBubble({ color, position, icon }: Look) {
  const bubble = document.createElement('button')
  bubble.type = 'button'
  const branded = color === null ? {} : { background: color, color: inkOn(color) }
  style(bubble, { ...BUBBLE, ...branded, [position]: '16px' })
  const label = document.createElement('span')
  if (icon !== null) {
    const sign = document.createElement('span')
    sign.ariaHidden = 'true'
    sign.textContent = `${icon} `
    bubble.append(sign)
  }
  bubble.append(label)
  return { bubble, label }
}

async function start() {
  const look = await lookOf(origin, token)
  const words = wordsIn(look.language)
  const { bubble, label } = createBubble(look)
  let panel: Panel | null = null

  function opened(): Panel {
    if (panel) return panel
    panel = createPanel(look)
    bubble.before(panel.element)
    return panel
  }

  function show(open: boolean): void {
    if (open) opened()
    if (panel) {
      panel.element.hidden = !open
      panel.element.style.setProperty('display', open ? 'block' : 'none')
    }
    label.textContent = open ? words.close : words.open
    bubble.setAttribute('aria-expanded', String(open))
  }

  const isOpen = () => bubble.getAttribute('aria-expanded') === 'true'
  bubble.addEventListener('click', () => show(!isOpen()))
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !isOpen()) return
    show(false)
    bubble.focus()
  })
  document.body.append(bubble)
  show(false)
  return { show, send: (text: string) => opened().send(text) }
}

if (token === '') throw new Error('widget.js: data-token is missing')
const loaded = new Promise<void>((resolve) => {
  if (document.readyState === 'loading') addEventListener('DOMContentLoaded', () => resolve())
  else resolve()
})
const started = loaded.then(start)

Object.assign(window, {
  moonbase: {
    open: () => void started.then(({ show }) => show(true)),
    close: () => void started.then(({ show }) => show(false)),
    /** Opens the chat and asks in the visitor's name. */
    send: (text: unknown) =>
      void started.then(({ show, send }) => {
        show(true)
        send(String(text))
      }),
  },
})
