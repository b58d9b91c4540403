import { greetedBoard } from '../../test/support/board.ts'
import { Refused } from '../../test/support/crash-load.ts'
import { deviceClient } from '../../test/support/devices.ts'
import { signIn } from '../../test/support/login.ts'
import type { Server } from '../../test/support/server.ts'

/** Who uses a server beside the turns of its own door. */
export interface Visitor {
  readonly server: Server
  readonly headers: Readonly<Record<string, string>>
  /** Tells what was done. */
  readonly done: (what: string) => void
}

/** Pause between two visits of one kind, so that none of them takes the whole processor. */
const PAUSE_MS = 200
/** A network may ask for 20 codes a minute, and a person for five in ten minutes. */
const SIGN_IN_PAUSE_MS = 10_000
const SCHEDULES_MOST = 20

async function ask({ server, headers }: Visitor, method: string, path: string, body?: object) {
  const answer = await fetch(server.url + path, {
    method,
    headers: { ...headers, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Refused(`${method} ${path}: ${answer.status} ${text}`)
  return text
}

/** Every door of other protocols, streamed and whole. */
async function doors(visitor: Visitor, step: number): Promise<void> {
  const messages = [{ role: 'user', content: `step ${step}: 2+3` }]
  const stream = step % 2 === 0
  const chat = { model: 'moonbase', messages, stream }
  await ask(visitor, 'POST', '/v1/messages', { ...chat, max_tokens: 100 })
  await ask(visitor, 'POST', '/v1/chat/completions', chat)
  await ask(visitor, 'POST', '/v1/responses', { model: 'moonbase', input: 'hello', stream })
  await ask(visitor, 'POST', '/ollama/api/chat', chat)
  visitor.done('doors')
}

async function searches(visitor: Visitor, step: number): Promise<void> {
  await ask(visitor, 'POST', '/v1/kb/search', { q: `lunar station ${step}` })
  await ask(visitor, 'GET', `/v1/sessions?q=w${step % 4}-${step % 50}`)
  visitor.done('searches')
}

/** One-time schedules that fire, and are listed and deleted. */
async function schedules(visitor: Visitor, step: number): Promise<void> {
  const at = new Date(Date.now() + 2_000).toISOString()
  await ask(visitor, 'POST', '/v1/schedules', { name: `soak ${step}`, text: '1+1', at })
  const { schedules: all } = JSON.parse(await ask(visitor, 'GET', '/v1/schedules')) as {
    schedules: { id: string; next_at: string | null }[]
  }
  const over = all.filter(({ next_at }) => next_at === null)
  for (const { id } of all.length > SCHEDULES_MOST ? over : []) {
    await ask(visitor, 'DELETE', `/v1/schedules/${id}`)
  }
  visitor.done('schedules')
}

async function signIns(visitor: Visitor, step: number): Promise<void> {
  const { headers } = await signIn(visitor.server, `person${step % 50}@example.com`)
  const asked = { server: visitor.server, headers, done: visitor.done }
  await ask(asked, 'GET', '/auth/me')
  await ask(asked, 'POST', '/auth/logout')
  visitor.done('sign-ins')
  await Bun.sleep(SIGN_IN_PAUSE_MS)
}

/** A board that is paired, asks one typed question, and is removed. */
async function boards(visitor: Visitor): Promise<void> {
  const { server, headers } = visitor
  const owner = { key: '', headers: { ...headers, authorization: headers.authorization ?? '' } }
  const { id, socket } = await greetedBoard(server, deviceClient(server, owner))
  socket.send({ type: 'listen', state: 'detect', text: '你好' })
  await socket.next('tts', 'stop')
  await socket.close()
  await ask(visitor, 'DELETE', `/v1/devices/${id}`)
  visitor.done('boards')
}

export const VISITS = { doors, searches, schedules, signIns, boards } as const

/** Repeats a visit until the server is gone. Rejects when it fails while the server lives. */
export async function visitUntilDeath(
  visit: (visitor: Visitor, step: number) => Promise<void>,
  visitor: Visitor,
): Promise<void> {
  try {
    for (let step = 0; ; step++) {
      await visit(visitor, step)
      await Bun.sleep(PAUSE_MS)
    }
  } catch (error) {
    if (await lives(visitor.server)) throw new Refused(`${visit.name}: ${error}`)
  }
}

const lives = ({ url }: Server) =>
  fetch(`${url}/healthz`).then(
    () => true,
    () => false,
  )
