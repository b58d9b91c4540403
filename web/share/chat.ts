import { ask, type Source, TurnFault } from '../api/visitor.ts'
import { createReplyView } from './reply.ts'
import { language, words } from './words.ts'

/** A message of the chat page of a share; messages stay in this tab of the visitor's browser. */

interface Said {
  readonly text: string
  readonly reply: string
  readonly sources: readonly Source[]
}

interface Talk {
  readonly session: string
  readonly said: readonly Said[]
}

const KEPT_MAX = 50
const STORE = `moonbase ${location.pathname}`

const byId = <E extends HTMLElement>(id: string) => document.getElementById(id) as E
const talkBox = byId('talk')
const told = byId('told')
const form = byId<HTMLFormElement>('ask')
const field = byId<HTMLTextAreaElement>('text')
const send = byId<HTMLButtonElement>('send')
const fresh = byId<HTMLButtonElement>('fresh')

function newTalk(): Talk {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  const name = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return { session: `share-${name}`, said: [] }
}

/** A browser may refuse to keep anything for a page inside another site. */
function load(): Talk {
  try {
    return (JSON.parse(sessionStorage.getItem(STORE) ?? 'null') as Talk | null) ?? newTalk()
  } catch {
    return newTalk()
  }
}

function keep(): void {
  try {
    sessionStorage.setItem(STORE, JSON.stringify(talk))
  } catch {
    // Without storage the conversation ends with the page.
  }
}

function made(name: string, className: string, text = ''): HTMLElement {
  const element = document.createElement(name)
  element.className = className
  element.textContent = text
  return element
}

const nameOf = ({ title, page }: Source) => (page === null ? title : `${title} ${words.page(page)}`)

/** Draws a turn and returns the elements that change while it is answered. */
function draw(text: string) {
  const turn = made('article', 'turn')
  const mine = made('p', 'mine', text)
  mine.prepend(made('span', 'hidden', words.you))
  const reply = made('div', 'reply')
  const sources = made('p', 'sources')
  const state = made('p', 'waiting')
  turn.append(mine, reply, sources, state)
  talkBox.append(turn)
  return {
    showReply: createReplyView(reply),
    replyText: () => reply.textContent,
    showSources(list: readonly Source[]) {
      sources.textContent = list.length > 0 ? words.sources + list.map(nameOf).join(' · ') : ''
    },
    showState(words: string, fault = false) {
      state.className = fault ? 'fault' : 'waiting'
      state.textContent = words
      if (fault) state.setAttribute('role', 'alert')
    },
  }
}

/** Follows the answer unless the visitor has scrolled up to read. */
function follow(change: () => void): void {
  const { scrollHeight, scrollTop, clientHeight } = talkBox
  const atEnd = scrollHeight - scrollTop - clientHeight < 80
  change()
  if (atEnd) talkBox.scrollTop = talkBox.scrollHeight
}

function drawTalk(): void {
  talkBox.replaceChildren(made('p', 'waiting', words.hello))
  for (const { text, reply, sources } of talk.said) {
    const turn = draw(text)
    turn.showReply(reply, false)
    turn.showSources(sources)
  }
  fresh.hidden = talk.said.length === 0
  talkBox.scrollTop = talkBox.scrollHeight
}

let talk = load()
/** Aborts the turn under way. */
let running: AbortController | null = null

function showRunning(turn: AbortController | null): void {
  running = turn
  send.textContent = turn ? words.stop : words.send
}

async function say(text: string): Promise<void> {
  const mine = new AbortController()
  const { session } = talk
  const turn = draw(text)
  let sources: readonly Source[] = []
  /** The answer so far is drawn once a frame, however fast its pieces come. */
  let latest = ''
  let frame = 0
  showRunning(mine)
  follow(() => turn.showState(words.waiting))
  talkBox.scrollTop = talkBox.scrollHeight
  told.textContent = words.waiting
  const listener = {
    onSources(list: readonly Source[]) {
      sources = list
    },
    onText(reply: string) {
      latest = reply
      frame ||= requestAnimationFrame(() => {
        frame = 0
        follow(() => turn.showReply(latest, true))
      })
    },
  }
  try {
    const reply = await ask(text, session, listener, mine.signal)
    if (talk.session !== session) return
    follow(() => {
      turn.showReply(reply, false)
      turn.showSources(sources)
      turn.showState('')
    })
    told.textContent = turn.replyText()
    talk = { session, said: [...talk.said, { text, reply, sources }].slice(-KEPT_MAX) }
    fresh.hidden = false
    keep()
  } catch (error) {
    if (talk.session !== session) return
    told.textContent = ''
    const fault = error instanceof TurnFault
    follow(() => {
      turn.showReply(latest, false)
      turn.showState(fault ? error.message : words.stopped, fault)
    })
    // Puts the question back into the field.
    if (field.value === '') field.value = text
  } finally {
    cancelAnimationFrame(frame)
    if (running === mine) showRunning(null)
  }
}

form.addEventListener('submit', (event) => {
  event.preventDefault()
  if (running) return running.abort()
  const text = field.value.trim()
  if (text === '') return field.focus()
  field.value = ''
  void say(text)
  field.focus()
})
field.addEventListener('keydown', (event) => {
  // Enter also ends the input of Chinese characters.
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
  event.preventDefault()
  if (!running) form.requestSubmit()
})
fresh.addEventListener('click', () => {
  running?.abort()
  talk = newTalk()
  keep()
  drawTalk()
  field.focus()
})

// The widget shows a line where its frame was refused, and nothing tells it but silence.
if (parent !== window) parent.postMessage('moonbase', '*')

document.documentElement.lang = language
document.querySelector('label')?.replaceChildren(words.ask)
field.placeholder = words.ask
fresh.textContent = words.fresh
byId('note').textContent = words.note
showRunning(null)
drawTalk()
