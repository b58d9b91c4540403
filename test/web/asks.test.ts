import { expect, test } from 'bun:test'
import { en } from '../../web/i18n/en.ts'
import { toolName } from '../../web/i18n/tool-words.ts'
import { seriousFindings } from '../support/axe.ts'
import { describeWeb, soon } from './setup.ts'
import { ask, ended, openWhy, turnOf, useStudio } from './studio-page.ts'

const HANG = new Promise<never>(() => {})
const sse = (from: number, ...events: readonly object[]) =>
  events.map((event, at) => `id: ${from + at}\ndata: ${JSON.stringify(event)}\n\n`).join('')
const schema = {
  type: 'object',
  properties: { room: { type: 'string' }, level: { type: 'integer' }, note: { type: 'string' } },
}
const ASK = {
  ...{ type: 'ask', id: 'q1', kind: 'approval', server: 'home', tool: 'light_on', title: null },
  ...{
    message: null,
    arguments: { room: 'attic', level: 3, note: null },
    schema,
    options: null,
    url: null,
  },
  ...{ host: null, warning: null },
}
const title = en['studio.ask.approval'].replace('{server}', 'home').replace('{tool}', 'light_on')

describeWeb('what a turn asks', () => {
  const at = useStudio()

  test('stands above the composer, also after a reload, and takes edited arguments', async () => {
    await using guest = await at.open()
    const { page } = guest
    const asking = { ...ASK, expires_at: new Date(Date.now() + 300_000).toISOString() }
    const bodies: unknown[] = []
    const stream = { status: 200, contentType: 'text/event-stream' }
    await page.route('**/console/agent', (route) => {
      bodies.push(route.request().postDataJSON())
      const named = { type: 'turn', turn_id: 't1', session_id: 'x' }
      return route.fulfill({ ...stream, body: sse(1, named, asking) })
    })
    const answered = Promise.withResolvers<unknown>()
    const asked: string[] = []
    await page.route('**/console/agent/turns/t1/events*', async (route) => {
      asked.push(new URL(route.request().url()).search)
      if (asked.length === 1) return HANG
      await answered.promise
      const done = { type: 'ask_done', id: 'q1', action: 'accept' }
      const end = { type: 'llm_end', reply: 'It is bright.' }
      await route.fulfill({ ...stream, body: sse(3, done, end) })
    })
    await page.route('**/console/agent/asks/q1', async (route) => {
      answered.resolve(route.request().postDataJSON())
      await route.fulfill({ status: 200, json: { id: 'q1' } })
    })
    await ask(page, 'Make it bright')
    const card = page.getByRole('region', { name: title })
    await card.waitFor()
    expect(bodies).toMatchObject([{ interactive: true, detached: true }])
    expect(await card.getByRole('alert').textContent()).toBe(title)
    await page.setViewportSize({ width: 360, height: 640 })
    const deny = await card.getByRole('button', { name: en['studio.ask.deny'] }).boundingBox()
    const { y = 0, height = 0 } = (await card.boundingBox()) ?? {}
    expect((deny?.y ?? 640) + (deny?.height ?? 0)).toBeLessThan(y + height)
    await page.setViewportSize({ width: 1280, height: 800 })
    await soon(async () => asked.length, 1)
    await page.reload()
    await card.waitFor()
    await card.getByRole('timer').waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await card.getByLabel(/^level/).fill('many')
    await card.getByRole('button', { name: en['studio.ask.once'] }).click()
    await card.getByText(en['tools.try.problem.integer']).waitFor()
    await card.getByLabel(/^level/).fill('7')
    await card.getByRole('button', { name: en['studio.ask.session'] }).press('Enter')
    expect(await answered.promise).toEqual({
      ...{ action: 'accept', remember: 'session' },
      content: { arguments: { room: 'attic', level: 7, note: null } },
    })
    await turnOf(page, 'Make it bright').locator('.prose', { hasText: 'It is bright.' }).waitFor()
    await card.waitFor({ state: 'detached' })
  }, 60_000)

  test('is answered, and is told beside the answer, also after a reload', async () => {
    await using guest = await at.open()
    const { page } = guest
    await page.request.put('/console/settings', { data: { may_ask: true } })
    const args = { question: 'Which one?', options: ['attic', 'cellar'] }
    at.world.platform.reply({ toolCalls: [{ name: 'ask_user', arguments: args }] })
    at.world.platform.reply({ text: 'The attic it is.' })
    const turn = await ask(page, 'Make one room bright')
    const card = page.getByRole('region', { name: en['studio.ask.model'] })
    await turn
      .getByText(en['studio.tools.busy'].replace('{name}', toolName('ask_user', 'en')))
      .waitFor()
    await card.getByRole('button', { name: en['studio.ask.send'] }).click()
    await card.getByText(en['tools.try.problem.missing']).waitFor()
    await card.getByLabel('attic').check()
    await card.getByRole('button', { name: en['studio.ask.send'] }).press('Enter')
    await turn.locator('.prose', { hasText: 'The attic it is.' }).waitFor()
    await page.reload()
    await openWhy(turn)
    await page.getByText(en['studio.asked'], { exact: true }).waitFor()
    const told = page.getByText(/^Question to you: yes, after \d+ s$/)
    await told.waitFor()
    expect(guest.complaints).toEqual([])
  }, 60_000)

  test('reads as not allowed where the person said no, also after a reload', async () => {
    await using guest = await at.open()
    const { page } = guest
    await page.request.put('/console/settings', { data: { may_ask: true } })
    const args = { question: 'Which one?' }
    at.world.platform.reply({ toolCalls: [{ name: 'ask_user', arguments: args }] })
    const turn = await ask(page, 'Make none bright')
    const card = page.getByRole('region', { name: en['studio.ask.model'] })
    await card.getByRole('button', { name: en['studio.ask.decline'] }).click()
    const used = en['studio.tools.used'].replace('{name}', toolName('ask_user', 'en'))
    const line = turn.getByText(`${used} · ${en['studio.tools.declined']}`, { exact: true })
    await line.waitFor()
    await ended(turn)
    await page.reload()
    await line.click()
    await turn.locator('.tool-run summary').click()
    await turn.getByText(en['studio.tool.declined']).waitFor()
    expect(await turn.getByText(en['studio.tools.failed']).count()).toBe(0)
  }, 60_000)
})
