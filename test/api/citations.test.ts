import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { KbDoc } from '../../src/features/knowledge/model.ts'
import type { KbCitation } from '../../src/features/sessions/model.ts'
import { caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { fakeClock } from '../support/clock.ts'
import { startTeam } from '../support/team.ts'

/** Which turns were shown a document, as people of its tenant see it. */

const DAY_MS = 86_400_000
const clock = fakeClock()
let app: TestApp
beforeAll(async () => {
  app = await startApp({ clock })
})
afterAll(() => app[Symbol.asyncDispose]())

const TEXT = 'Kettles carry a warranty of eighteen months.'
const ASK = 'How long is the warranty of kettles?'

type Headers = Record<string, string>

async function ask(headers: Headers, path: string, session_id: string): Promise<void> {
  const body = JSON.stringify({ text: ASK, session_id })
  const init = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body }
  expect(await (await fetch(`${app.url}${path}`, init)).text()).toContain('kb_refs')
}

async function citationsOf(headers: Headers, doc: string): Promise<KbCitation[] | number> {
  const answer = await caller(app.url, headers)<{ citations: KbCitation[] }>(
    'GET',
    `/console/kb/docs/${doc}/citations`,
  )
  return answer.status === 200 ? answer.json().citations : answer.status
}

/** A team whose owner has a document. */
async function team() {
  const owner = await startTeam(app)
  const made = await owner.call<{ id: string }>('POST', '/console/kb/docs', {
    title: 'Kettles',
    text: TEXT,
  })
  return { owner, doc: made.json().id }
}

test('turns are listed newest first, with what was asked and which passages it was', async () => {
  const { owner, doc } = await team()
  expect(await citationsOf(owner.headers, doc)).toEqual([])
  await ask(owner.headers, '/console/agent', 'one')
  clock.advance(1_000)
  await ask(owner.headers, '/console/agent', 'two')
  const turn = { seq: 1, question: ASK, passages: [0] }
  expect(await citationsOf(owner.headers, doc)).toMatchObject([
    { ...turn, session_id: 'two' },
    { ...turn, session_id: 'one' },
  ])
})

test('nobody sees the talk of a colleague; editors see those of keys, viewers do not', async () => {
  const { owner, doc } = await team()
  const [editor, viewer] = [await owner.join('editor'), await owner.join('viewer')]
  const key = await app.key(owner.email)
  await ask(owner.headers, '/console/agent', 'mine')
  clock.advance(1_000)
  await ask(key.headers, '/v1/agent', 'by-key')
  const seenBy = async ({ headers }: { headers: Headers }) =>
    ((await citationsOf(headers, doc)) as KbCitation[]).map(({ session_id }) => session_id)
  expect(await seenBy(owner)).toEqual(['by-key', 'mine'])
  expect(await seenBy(editor)).toEqual(['by-key'])
  expect(await seenBy(viewer)).toEqual([])
})

test('a turn is listed as long as its citation is counted, and goes with its talk', async () => {
  const { owner, doc } = await team()
  // A sign-in does not last as long.
  const signedIn = async () => (await app.person(owner.email)).headers
  const told = async () => {
    const headers = await signedIn()
    const of = caller(app.url, headers)
    const { cited_7d } = (await of<KbDoc>('GET', `/console/kb/docs/${doc}`)).json()
    const cited = (await citationsOf(headers, doc)) as KbCitation[]
    return [cited_7d, cited.map(({ session_id }) => session_id)]
  }
  await ask(owner.headers, '/console/agent', 'old')
  clock.advance(6 * DAY_MS)
  expect(await told()).toEqual([1, ['old']])
  await ask(await signedIn(), '/console/agent', 'gone')
  expect(await told()).toEqual([2, ['gone', 'old']])
  await caller(app.url, await signedIn())('DELETE', '/console/sessions/gone')
  expect(await told()).toEqual([2, ['old']])
  clock.advance(DAY_MS)
  expect(await told()).toEqual([1, []])
})

test('at most twenty are listed', async () => {
  const { owner, doc } = await team()
  for (let turn = 0; turn < 21; turn++) await ask(owner.headers, '/console/agent', `s${turn}`)
  expect(await citationsOf(owner.headers, doc)).toHaveLength(20)
})

test('a document that is not there, or is another one’s, is not found', async () => {
  const { doc } = await team()
  const { headers } = (await team()).owner
  expect(await citationsOf(headers, doc)).toBe(404)
  expect(await citationsOf(headers, '%25')).toBe(404)
})
