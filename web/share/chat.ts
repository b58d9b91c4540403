import { ask, type CitedPassage, type Source, TurnFault } from '../api/visitor.ts'
import { isComposing } from '../lib/composing.ts'
import { face, inkOn, isClosed } from './face.ts'
import { keep, load, newTalk, type Said } from './kept-talk.ts'
import { openPassage } from './passage.ts'
import { createReplyView, endReplies } from './reply.tsx'
import { createThumbs } from './thumbs.ts'
import { language, words } from './words.ts'

/** Questions of the site that wait; what a site asks beyond them is dropped. */
const ASKED_MAX = 10

const byId = <E extends HTMLElement>(id: string) => document.getElementById(id) as E
const talkBox = byId('talk')
const told = byId('told')
const form = byId<HTMLFormElement>('ask')
const field = byId<HTMLTextAreaElement>('text')
const send = byId<HTMLButtonElement>('send')
const fresh = byId<HTMLButtonElement>('fresh')

function made(name: string, className: string, text = ''): HTMLElement {
  const element = document.createElement(name)
  element.className = className
  element.textContent = text
  return element
}

const nameOf = ({ title, page }: Source) => (page === null ? title : `${title} ${words.page(page)}`)

/** The names of sources; one of which a passage is cited opens it. */
function linked(list: readonly Source[], passages: readonly CitedPassage[]): (Node | string)[] {
  return list.flatMap((source, at) => {
    const { title, page } = source
    const passage = passages.find((one) => one.title === title && one.page === page)
    const between = at === 0 ? [] : [' · ']
    if (!passage) return [...between, nameOf(source)]
    const button = made('button', 'source', nameOf(source)) as HTMLButtonElement
    button.type = 'button'
    button.addEventListener('click', () => openPassage(passage, ''))
    return [...between, button]
  })
}

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
    showThumbs({ seq, rating = 0 }: Pick<Said, 'seq' | 'rating'>) {
      if (seq == null) return
      const { session } = talk
      const onRated = (value: number) => rate(session, seq, value)
      state.before(createThumbs({ session, seq, rating }, tell, onRated))
    },
    showSources(list: readonly Source[], passages: readonly CitedPassage[]) {
      if (list.length > 0) sources.replaceChildren(words.sources, ...linked(list, passages))
    },
    showState(words: string, fault = false) {
      state.className = fault ? 'fault' : 'waiting'
      if (fault) state.setAttribute('role', 'alert')
      state.textContent = words
    },
  }
}

const tell = (what: string) => {
  told.textContent = what
}

/** Remembers a thumb with its answer. */
function rate(session: string, seq: number, rating: number): void {
  if (talk.session !== session) return
  const said = talk.said.map((one) => (one.seq === seq ? { ...one, rating } : one))
  talk = { session, said }
  keep(talk)
}

/** Questions to begin with. */
function drawStarters(): void {
  if (face.starters.length === 0 || isClosed) return
  const box = made('div', 'starters')
  for (const text of face.starters) {
    const button = made('button', 'quiet', text) as HTMLButtonElement
    button.type = 'button'
    button.addEventListener('click', () => {
      if (!running) void say(text)
      field.focus()
    })
    box.append(button)
  }
  talkBox.append(box)
}

/** Follows the answer unless the visitor has scrolled up to read. */
function follow(change: () => void): void {
  const { scrollHeight, scrollTop, clientHeight } = talkBox
  const atEnd = scrollHeight - scrollTop - clientHeight < 80
  change()
  if (atEnd) talkBox.scrollTop = talkBox.scrollHeight
}

function drawTalk(): void {
  endReplies()
  talkBox.replaceChildren(made('p', 'greeting', face.greeting ?? (face.gone ? '' : words.hello)))
  if (talk.said.length === 0) drawStarters()
  for (const { text, reply, sources, passages = [], ...rated } of talk.said) {
    const turn = draw(text)
    turn.showReply(reply, passages, false)
    turn.showSources(sources, passages)
    turn.showThumbs(rated)
  }
  fresh.hidden = talk.said.length === 0
  talkBox.scrollTop = talkBox.scrollHeight
}

let talk = load()
/** Questions of the site that wait for the turn under way. */
const asked: string[] = []
/** Aborts the turn under way. */
let running: AbortController | null = null

function showRunning(turn: AbortController | null): void {
  running = turn
  send.textContent = turn ? words.stop : words.send
}

async function say(text: string): Promise<void> {
  const mine = new AbortController()
  const { session } = talk
  talkBox.querySelector('.starters')?.remove()
  const turn = draw(text)
  let sources: readonly Source[] = []
  let passages: readonly CitedPassage[] = []
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
    onPassages(list: readonly CitedPassage[]) {
      passages = [...passages, ...list]
    },
    onText(reply: string) {
      latest = reply
      frame ||= requestAnimationFrame(() => {
        frame = 0
        // A new conversation has taken it off the page.
        if (!mine.signal.aborted) follow(() => turn.showReply(latest, passages, true))
      })
    },
  }
  try {
    const { reply, seq } = await ask(text, session, listener, mine.signal)
    if (talk.session !== session) return
    follow(() => {
      turn.showReply(reply, passages, false)
      turn.showSources(sources, passages)
      turn.showState('')
      turn.showThumbs({ seq })
    })
    told.textContent = turn.replyText()
    talk = {
      session,
      said: [...talk.said, { text, reply, sources, passages, seq }],
    }
    fresh.hidden = false
    keep(talk)
  } catch (error) {
    if (talk.session !== session) return
    const fault = error instanceof TurnFault
    // A fault is an alert where it stands.
    told.textContent = fault ? '' : words.stopped
    follow(() => {
      turn.showReply(latest, passages, false)
      turn.showState(fault ? error.message : words.stopped, fault)
    })
    // Puts the question back into the field.
    if (field.value === '') field.value = text
  } finally {
    cancelAnimationFrame(frame)
    if (running === mine) showRunning(null)
    const next = running ? undefined : asked.shift()
    if (next !== undefined) void say(next)
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
  if (event.key !== 'Enter' || event.shiftKey || isComposing(event)) return
  event.preventDefault()
  if (!running) form.requestSubmit()
})
fresh.addEventListener('click', () => {
  asked.length = 0
  running?.abort()
  talk = newTalk()
  told.textContent = ''
  keep(talk)
  drawTalk()
  field.focus()
})

/** What the site around the page asks in the visitor's name; only sites of the share frame it. */
addEventListener('message', ({ source, data }: MessageEvent<{ moonbaseSend?: unknown } | null>) => {
  const text = source === parent && parent !== window ? data?.moonbaseSend : null
  if (typeof text !== 'string' || text.trim() === '' || isClosed) return
  const question = text.trim().slice(0, field.maxLength)
  if (!running) void say(question)
  else if (asked.length < ASKED_MAX) asked.push(question)
})

// The widget shows a line where its frame was refused, and nothing tells it but silence.
if (parent !== window) parent.postMessage('moonbase', '*')

document.documentElement.lang = language
document.querySelector('label')?.replaceChildren(words.ask)
field.placeholder = words.ask
fresh.textContent = words.fresh
byId('note').textContent = words.note
if (face.color !== null) {
  document.documentElement.style.setProperty('--brand', face.color)
  document.documentElement.style.setProperty('--on-brand', inkOn(face.color))
}
if (face.icon !== null) {
  byId('icon').textContent = face.icon
  byId('icon').hidden = false
}
// It scrolls, so the keyboard has to reach it.
talkBox.tabIndex = 0
showRunning(null)
drawTalk()
if (isClosed) {
  field.disabled = true
  send.disabled = true
  const why = made('p', 'fault', face.gone ? words.gone : words.paused)
  why.setAttribute('role', 'alert')
  talkBox.append(why)
}
if (!CSS.supports('field-sizing:content')) void import('../lib/growing-fields.ts')
