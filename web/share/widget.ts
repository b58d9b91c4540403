import { words } from './words.ts'

/**
 * Puts the chat of a share on any site:
 * `<script src="https://this.server/widget.js" data-token="…" async></script>`.
 * The chat is a frame of this server, so that scripts and styles of the site do not affect it.
 */

const script = document.currentScript as HTMLScriptElement | null
const token = script?.dataset.token ?? ''
const origin = script ? new URL(script.src).origin : ''

/** Set one by one: a policy of the site may refuse style sheets and attributes. */
const style = (element: HTMLElement, rules: Readonly<Record<string, string>>) => {
  for (const [name, value] of Object.entries(rules)) element.style.setProperty(name, value)
}

const CORNER = { position: 'fixed', right: '16px', 'z-index': '2147483000' } as const
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

/** The chat in a frame, or a line where the browser or the server refuses it. */
function createPanel(): HTMLElement {
  const panel = document.createElement('div')
  const frame = document.createElement('iframe')
  frame.src = `${origin}/s/${encodeURIComponent(token)}`
  frame.title = words.open
  style(frame, WINDOW)
  panel.append(frame)
  let isReady = false
  addEventListener('message', ({ source }) => {
    if (source === frame.contentWindow) isReady = true
  })
  function refuse(): void {
    if (isReady) return
    const line = document.createElement('p')
    line.textContent = words.refused
    style(line, LINE)
    panel.replaceChildren(line)
    panel.setAttribute('role', 'alert')
  }
  // A refused frame loads, too: an error page of the browser.
  frame.addEventListener('load', () => setTimeout(refuse, READY_MS), { once: true })
  return panel
}

function start(): void {
  const button = document.createElement('button')
  button.type = 'button'
  style(button, BUBBLE)
  let panel: HTMLElement | null = null

  function show(open: boolean): void {
    if (open && !panel) {
      panel = createPanel()
      button.before(panel)
    }
    if (panel) {
      panel.hidden = !open
      panel.style.setProperty('display', open ? 'block' : 'none')
    }
    button.textContent = open ? words.close : words.open
    button.setAttribute('aria-expanded', String(open))
  }

  const isOpen = () => button.getAttribute('aria-expanded') === 'true'
  button.addEventListener('click', () => show(!isOpen()))
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !isOpen()) return
    show(false)
    button.focus()
  })
  document.body.append(button)
  show(false)
}

if (token === '') throw new Error('widget.js: data-token is missing')
if (document.readyState === 'loading') addEventListener('DOMContentLoaded', start)
else start()
