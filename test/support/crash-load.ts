import type { Book, Ledger } from './crash-ledger.ts'
import { postSse } from './sse.ts'

export interface Caller {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly random: () => number
}

const TURNS_OF_A_SESSION = 8
const DOCS_MOST = 20
const DEVICES_MOST = 40

/** Sends a request; rejects when the server dies before it answers. */
async function call(caller: Caller, method: string, path: string, body?: object) {
  const answer = await fetch(caller.url + path, {
    method,
    headers: { ...caller.headers, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Refused(`${method} ${path}: ${answer.status} ${text}`)
  return JSON.parse(text) as Record<string, string>
}

/** The server answered with a refusal: a bug of the test or the server, not of the crash. */
export class Refused extends Error {}

/** One worker: writes until the server is gone. */
export async function writeUntilDeath(
  kind: 'turns' | 'docs' | 'devices',
  worker: string,
  caller: Caller,
  ledger: Ledger,
): Promise<void> {
  const work = { turns: takeTurn, docs: changeDocs, devices: changeDevices }[kind]
  try {
    for (let step = 0; ; step++) await work(`${worker}-${step}`, caller, ledger)
  } catch (error) {
    if (error instanceof Refused) throw error
  }
}

async function takeTurn(name: string, { url, headers }: Caller, ledger: Ledger) {
  const step = Number(name.split('-').at(-1))
  const worker = name.slice(0, name.lastIndexOf('-'))
  const id = `${worker}-${Math.floor(step / TURNS_OF_A_SESSION)}`
  const session = ledger.sessions.get(id) ?? { said: [], doubtful: null }
  ledger.sessions.set(id, session)
  session.doubtful = name
  const body = { text: name, session_id: id, kb: false }
  for await (const { data } of await postSse(`${url}/v1/agent`, { headers, body })) {
    if (data.type === 'error') throw new Error(String(data.message))
    if (data.type !== 'llm_end') continue
    session.said.push(name)
    session.doubtful = null
    ledger.acknowledged.turns++
    return
  }
  throw new Error('the stream ended early')
}

/** Deletes one row of a full list; returns whether it did. */
async function makeRoom(caller: Caller, path: string, held: Book, most: number) {
  if (held.there.size < most) return false
  const ids = [...held.there.keys()].filter((id) => !held.doubtful.has(id))
  const id = ids[Math.floor(caller.random() * ids.length)]
  if (id === undefined) return false
  held.doubtful.add(id)
  await call(caller, 'DELETE', `${path}/${id}`)
  held.doubtful.delete(id)
  held.there.delete(id)
  held.gone.add(id)
  return true
}

async function changeDocs(name: string, caller: Caller, ledger: Ledger) {
  if (await makeRoom(caller, '/v1/kb/docs', ledger.docs, DOCS_MOST)) return
  const { id } = await call(caller, 'POST', '/v1/kb/docs', {
    title: name,
    text: `${name} is a document about lunar station ${name}.`,
  })
  ledger.docs.there.set(String(id), name)
  ledger.acknowledged.docs++
}

async function changeDevices(name: string, caller: Caller, ledger: Ledger) {
  if (await makeRoom(caller, '/v1/devices', ledger.devices, DEVICES_MOST)) return
  const { id, activation_code } = await call(caller, 'POST', '/v1/devices', { name })
  ledger.devices.there.set(String(id), name)
  ledger.acknowledged.devices++
  // An address activates ten devices a minute; the others get no key.
  const answer = await fetch(`${caller.url}/v1/devices/activate`, {
    method: 'POST',
    body: JSON.stringify({ code: activation_code }),
  })
  if (!answer.ok) return
  const { key } = (await answer.json()) as { key: string }
  ledger.keys.set(String(id), key)
  ledger.acknowledged.keys++
}
