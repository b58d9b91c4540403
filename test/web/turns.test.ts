import { expect, test } from 'bun:test'
import type { Locator, Page, Route } from 'playwright-core'
import { en } from '../../web/i18n/en.ts'
import { describeWeb, soon } from './setup.ts'
import { ask, ended, field, turnOf, useStudio } from './studio-page.ts'

const HANG = new Promise<never>(() => {})

/** Events with their numbers, as a server sends them. */
const sse = (from: number, ...events: readonly object[]) =>
  events.map((event, at) => `id: ${from + at}\ndata: ${JSON.stringify(event)}\n\n`).join('')
const stream = (route: Route, body: string) =>
  route.fulfill({ status: 200, contentType: 'text/event-stream', body })
const json = (route: Route, body: object) => route.fulfill({ status: 200, json: body })

/** The files that a question is shown with. */
const filesOf = (turn: Locator) =>
  turn.locator('.question .badge', { hasText: '.txt' }).allTextContents()
const keeps = (name: string) => en['studio.attached.keep'].replace('{name}', name)
const drops = (name: string) => en['studio.attached.drop'].replace('{name}', name)

const NAMED = { type: 'turn', turn_id: 't1', session_id: 'x' }
const word = (text: string) => ({ type: 'llm_delta', text })

/** The first words of an answer, after which its stream breaks. */
const begin = (page: Page, bodies: unknown[] = []) =>
  page.route('**/console/agent', (route) => {
    bodies.push(route.request().postDataJSON())
    return stream(route, sse(1, NAMED, word('One ')))
  })

describeWeb('a turn that belongs to the server', () => {
  const at = useStudio()

  test('a broken answer is taken up where it broke', async () => {
    await using guest = await at.open()
    const { page } = guest
    const bodies: unknown[] = []
    const asked: string[] = []
    await begin(page, bodies)
    await page.route('**/console/agent/turns/t1/events*', (route) => {
      asked.push(new URL(route.request().url()).search)
      if (asked.length === 1) return stream(route, sse(3, word('two ')))
      return stream(route, sse(4, { type: 'llm_end', reply: 'One two three.' }))
    })
    const turn = await ask(page, 'Count to three')
    await turn.locator('.prose', { hasText: 'One two three.' }).waitFor()
    expect(asked).toEqual(['?after=2', '?after=3'])
    expect(bodies).toMatchObject([{ text: 'Count to three', detached: true }])
  }, 60_000)

  test('an answer goes on after a reload', async () => {
    await using guest = await at.open()
    const { page } = guest
    await begin(page)
    const asked: string[] = []
    await page.route('**/console/agent/turns/t1/events*', (route) => {
      asked.push(new URL(route.request().url()).search)
      if (asked.length === 1) return HANG
      return stream(route, sse(3, word('two'), { type: 'llm_end', reply: 'One two' }))
    })
    await ask(page, 'Count on, please')
    await soon(async () => asked, ['?after=2'])
    await page.reload()
    await soon(async () => asked, ['?after=2', '?after=2'])
    await turnOf(page, 'Count on, please').locator('.prose', { hasText: 'One two' }).waitFor()
  }, 60_000)

  test('Stop asks the server, which keeps what was written', async () => {
    await using guest = await at.open()
    const { page } = guest
    await begin(page)
    const stopped = Promise.withResolvers<void>()
    await page.route('**/console/agent/turns/t1/events*', async (route) => {
      await stopped.promise
      await stream(route, sse(3, { type: 'llm_end', reply: 'One ', stopped: true }))
    })
    await page.route('**/console/agent/turns/t1/stop', async (route) => {
      await json(route, { turn_id: 't1', stored: true })
      stopped.resolve()
    })
    const turn = await ask(page, 'Count for ever')
    await turn.locator('.prose', { hasText: 'One' }).waitFor()
    await page.getByRole('button', { name: en['studio.stop'] }).click()
    await turn.getByText(en['studio.stopped.kept']).waitFor()
    await turn.locator('.prose', { hasText: 'One' }).waitFor()
  }, 60_000)

  test('an answer asked elsewhere is followed, and an interrupted one is told', async () => {
    await using guest = await at.open()
    const { page } = guest
    const pending = { partial: '', started_at: new Date().toISOString() }
    const turns: object[] = [
      { ...pending, turn_id: 't1', state: 'running', text: 'From the phone?' },
      { ...pending, turn_id: 't0', state: 'interrupted', text: 'Lost?', partial: 'Half' },
    ]
    await page.route('**/console/conversations/elsewhere', (route) =>
      json(route, { id: 'elsewhere', title: 'x', pending: turns }),
    )
    await page.route('**/console/agent/turns/t1/events*', (route) => {
      turns.shift()
      return stream(route, sse(1, NAMED, { type: 'llm_end', reply: 'Yes.' }))
    })
    await page.goto('/app?session=elsewhere')
    await turnOf(page, 'From the phone?').locator('.prose', { hasText: 'Yes.' }).waitFor()
    const lost = turnOf(page, 'Lost?')
    await lost.getByText(en['studio.interrupted']).waitFor()
    await lost.locator('.prose', { hasText: 'Half' }).waitFor()
    await lost.getByRole('alert').getByRole('button', { name: en['studio.continue'] }).waitFor()
  }, 60_000)

  test('an interrupted answer that is asked again is as long as it was to be', async () => {
    await using guest = await at.open()
    const { page } = guest
    const reply = 'word '.repeat(60)
    const told = {
      seq: 1,
      user_text: 'Long?',
      reply,
      details: null,
      created_at: '2026-11-23T12:00:00Z',
    }
    await page.route('**/console/sessions/told/transcript*', (route) =>
      json(route, { turns: [told], next_before: null }),
    )
    await page.route('**/console/sessions/told/branch', (route) =>
      route.fulfill({ status: 201, json: { session_id: 'br-1' } }),
    )
    const lost = { turn_id: 't1', state: 'interrupted', text: 'Long?', partial: 'One ' }
    await page.route('**/console/conversations/br-1', (route) => {
      const pending = [{ ...lost, started_at: new Date().toISOString() }]
      return json(route, { id: 'br-1', title: 'x', pending })
    })
    const bodies: unknown[] = []
    await begin(page, bodies)
    await page.route('**/console/agent/turns/t1/events*', (route) => route.fulfill({ status: 404 }))
    await page.goto('/app?session=told')
    await page.getByRole('button', { name: en['studio.again.menu'] }).click()
    await page.getByRole('menuitem', { name: en['studio.shorter'] }).click()
    await page.getByText(en['studio.interrupted']).waitFor()
    await page.getByRole('button', { name: en['studio.continue'] }).click()
    await soon(async () => bodies.length, 2)
    expect(bodies).toMatchObject([{ answer_words: 30 }, { answer_words: 30 }])
  }, 60_000)

  test('any question is edited in a version of its own', async () => {
    await using guest = await at.open()
    const { page } = guest
    const row = (seq: number, user_text: string) => ({
      ...{ seq, user_text, reply: `answer ${seq}`, details: null },
      created_at: new Date(seq * 1_000).toISOString(),
    })
    const version = { from_seq: null, last_at: '2026-11-23T12:00:00Z' }
    const versions = [{ ...version, session_id: 'first', shared_seq: null, next_at: null }]
    await page.route('**/console/sessions/*/transcript*', (route) =>
      json(route, { turns: [row(2, 'Second?'), row(1, 'First?')], next_before: null }),
    )
    await page.route('**/console/conversations/*/versions', (route) => json(route, { versions }))
    const places: unknown[] = []
    await page.route('**/console/sessions/first/branch', async (route) => {
      places.push(route.request().postDataJSON())
      const branch = { session_id: 'br-1', from_seq: 0, shared_seq: 0, next_at: version.last_at }
      versions.push({ ...version, ...branch } as never)
      await route.fulfill({ status: 201, json: { session_id: 'br-1' } })
    })
    const bodies: unknown[] = []
    await begin(page, bodies)
    await page.route('**/console/agent/turns/t1/events*', () => HANG)
    await page.goto('/app?session=first')
    await turnOf(page, 'First?').getByRole('button', { name: en['studio.edit'] }).click()
    await page.getByRole('textbox', { name: en['studio.edit'] }).fill('Another first?')
    await page.keyboard.press('Enter')
    await page.waitForURL(/session=br-1/)
    await soon(async () => bodies.length, 1)
    expect(places).toEqual([{ seq: 0, for_question: true }])
    expect(bodies).toMatchObject([{ text: 'Another first?', session_id: 'br-1' }])
    await page.goto('/app?session=first')
    await turnOf(page, 'First?').getByText('1/2', { exact: true }).waitFor()
    await page.getByRole('button', { name: en['studio.version.after'] }).click()
    await page.waitForURL(/session=br-1/)
  }, 60_000)

  test('files go with a question, and one that fails says why', async () => {
    await using guest = await at.open()
    const { page } = guest
    const bodies: unknown[] = []
    await page.route('**/console/files', (route) => {
      const isBad = route.request().postData()?.includes('bad.zip')
      const file = { id: 'f1', name: 'plan.txt', bytes: 9, state: 'ready', error: null }
      if (!isBad) return route.fulfill({ status: 202, json: file })
      return route.fulfill({ status: 400, contentType: 'text/plain', body: '' })
    })
    await begin(page, bodies)
    await page.route('**/console/agent/turns/t1/events*', () => HANG)
    await page.locator('form.composer input[type=file]').setInputFiles([
      { name: 'plan.txt', mimeType: 'text/plain', buffer: Buffer.from('The plan.') },
      { name: 'bad.zip', mimeType: 'application/zip', buffer: Buffer.from('PK') },
    ])
    const files = page.getByRole('list', { name: en['studio.attached'] })
    await files.getByText('plan.txt').waitFor()
    await files.getByRole('listitem').filter({ hasText: 'bad.zip' }).getByRole('alert').waitFor()
    await page
      .getByRole('button', { name: en['studio.attached.keep'].replace('{name}', 'plan.txt') })
      .waitFor()
    await field(page).fill('What is the plan?')
    await page.keyboard.press('Enter')
    await turnOf(page, 'What is the plan?').getByText('plan.txt').waitFor()
    expect(bodies).toMatchObject([{ files: ['f1'] }])
    await soon(() => files.count(), 0)
  }, 60_000)

  test('an edited question carries the files that its person sees, and no other', async () => {
    await using guest = await at.open()
    const { page } = guest
    const file = (name: string) => ({
      ...{ name: `${name}.txt`, mimeType: 'text/plain' },
      buffer: Buffer.from(`All that is known of the ${name}.`),
    })
    const animals = ['walrus', 'falcon', 'badger']
    await page.locator('form.composer input[type=file]').setInputFiles(animals.map(file))
    const attached = page.getByRole('list', { name: en['studio.attached'] })
    for (const name of animals) {
      await attached.getByRole('button', { name: keeps(`${name}.txt`) }).waitFor()
    }
    await ended(await ask(page, 'What are these?'))
    await page.reload()
    const first = turnOf(page, 'What are these?')
    const edit = async (of: Locator) => {
      await of.getByRole('button', { name: en['studio.edit'] }).click()
      return page.getByRole('textbox', { name: en['studio.edit'] })
    }
    await edit(first)
    await soon(
      () => attached.getByRole('listitem').allTextContents(),
      ['walrus.txt', 'falcon.txt', 'badger.txt'],
    )
    await page.evaluate(async (name) => {
      const { files } = await (await fetch('/console/files')).json()
      const { id } = files.find((one: { name: string }) => one.name === name)
      await fetch(`/console/files/${id}`, { method: 'DELETE' })
    }, 'falcon.txt')
    // As it was when it is opened again, less what is gone.
    await page.reload()
    const words = await edit(first)
    await attached.getByText(en['studio.file.gone']).waitFor()
    expect(await attached.getByRole('button', { name: keeps('falcon.txt') }).count()).toBe(0)
    await attached.getByRole('button', { name: drops('badger.txt') }).click()
    await words.fill('What is this?')
    await page.keyboard.press('Enter')
    const second = turnOf(page, 'What is this?')
    await ended(second)
    expect(await filesOf(second)).toEqual(['walrus.txt'])
    const told = JSON.stringify(at.world.platform.requests.at(-1)?.body)
    expect(animals.map((name) => told.includes(`known of the ${name}`))).toEqual([
      true,
      false,
      false,
    ])
    expect(told).not.toContain('badger')
    // The first version has what it had.
    await page.getByRole('button', { name: en['studio.version.before'] }).click()
    await first.getByText('badger.txt').waitFor()
    await first.getByRole('button', { name: en['studio.again'], exact: true }).click()
    await page.getByText(en['studio.file.left'].replace('{name}', 'falcon.txt')).waitFor()
    await first.getByText('3/3', { exact: true }).waitFor()
    await ended(first)
    expect(await filesOf(first)).toEqual(['walrus.txt', 'badger.txt'])
  }, 60_000)
})
