import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page, Route } from 'playwright-core'
import { en } from '../../web/i18n/en.ts'
import { startLine } from '../support/cut.ts'
import { describeWeb, soon } from './setup.ts'
import { ask, ended, field, shown, turnOf, useStudio } from './studio-page.ts'

const TIMEOUT_MS = 60_000

describeWeb('a question that is sent more than once', () => {
  const at = useStudio()
  let line: Awaited<ReturnType<typeof startLine>>
  beforeAll(async () => {
    line = await startLine(Number(new URL(at.world.app.url).port))
  })
  afterAll(() => line[Symbol.asyncDispose]())

  /** The turns of all versions of the talk that is shown, as the server has them. */
  const stored = (page: Page) =>
    page.evaluate(async () => {
      const read = async (path: string) => (await fetch(`/console/${path}`)).json()
      const { conversations } = await read('conversations?of=mine')
      const versions = await read(`conversations/${conversations[0].id}/versions`)
      const told = versions.versions.map(async ({ session_id }: { session_id: string }) => {
        const { turns } = await read(`sessions/${session_id}/transcript`)
        return turns.map(({ reply }: { reply: string }) => reply)
      })
      return Promise.all(told)
    })

  test(
    'a question whose connection closes before an answer, again and again, is taken once',
    async () => {
      await using guest = await at.open(`http://127.0.0.1:${line.port}`)
      const { page } = guest
      const { platform } = at.world
      platform.reply({ text: 'The oak.' })
      const turn = await ask(page, 'Which tree?')
      await ended(turn)
      // The browser itself sends again what it has sent over a connection that was open before.
      const left = line.lose('POST /console/agent ', 4)
      platform.reply({ text: 'The elm.' })
      await turn.getByRole('button', { name: en['studio.again'] }).click()
      await turn.locator('.prose', { hasText: 'The elm.' }).waitFor()
      expect(left()).toBe(0)
      expect(at.world.asked(platform)).toHaveLength(2)
      expect(await stored(page)).toEqual([['The oak.'], ['The elm.']])
      await page.reload()
      await soon(() => shown(page), [['Which tree?', 'The elm.']])
    },
    TIMEOUT_MS,
  )

  test(
    'a question that a page had sent when it was loaded anew is taken once, when it is sent again',
    async () => {
      await using guest = await at.open()
      const { page } = guest
      const { platform } = at.world
      const sendAgain = (text: string) =>
        page
          .getByRole('button', { name: en['studio.queue.now'].replace('{text}', text) })
          .or(turnOf(page, text).getByRole('button', { name: en['studio.retry'] }))
          .first()
          .click()
      const asks = async (text: string, doing: (route: Route) => void) => {
        const left = Promise.withResolvers<void>()
        await page.route(
          '**/console/agent',
          async (route) => {
            await doing(route)
            left.resolve()
          },
          { times: 1 },
        )
        await field(page).fill(text)
        await page.keyboard.press('Enter')
        await left.promise
        await page.reload()
      }
      platform.reply({ text: 'The stone one.' })
      await asks('Which wall?', (route) => route.fetch())
      await sendAgain('Which wall?')
      await page.locator('.queue').waitFor({ state: 'detached' })
      await soon(() => shown(page), [['Which wall?', 'The stone one.']])
      expect(at.world.asked(platform)).toHaveLength(1)
      await asks('Which gate?', () => {})
      platform.reply({ text: 'The iron one.' })
      await sendAgain('Which gate?')
      await turnOf(page, 'Which gate?').locator('.prose', { hasText: 'The iron one.' }).waitFor()
      expect(at.world.asked(platform)).toHaveLength(2)
      expect(await stored(page)).toEqual([['The iron one.', 'The stone one.']])
    },
    TIMEOUT_MS,
  )

  test(
    'an answer that no line told of is read after a reload, and its question waits no more',
    async () => {
      await using guest = await at.open(`http://127.0.0.1:${line.port}`)
      const { page } = guest
      const { platform } = at.world
      const rest = Promise.withResolvers<void>()
      platform.reply({ pieces: ['One', ' two'], hold: { after: 1, until: rest.promise } })
      // Else the page may hear of the turn before it is loaded anew.
      const told = /\/console\/conversations\/play-/
      await page.route(told, (route) => route.abort())
      line.lose('POST /console/agent ', 99)
      await field(page).fill('How long?')
      await page.keyboard.press('Enter')
      await page.locator('.queue', { hasText: en['studio.queue.held'] }).waitFor()
      await page.unroute(told)
      await page.reload()
      await turnOf(page, 'How long?').locator('.prose', { hasText: 'One' }).waitFor()
      await page.locator('.queue').waitFor({ state: 'detached' })
      rest.resolve()
      await turnOf(page, 'How long?').locator('.prose', { hasText: 'One two' }).waitFor()
      line.lose('', 0)
      expect(at.world.asked(platform)).toHaveLength(1)
      expect(await shown(page)).toEqual([['How long?', 'One two']])
    },
    TIMEOUT_MS,
  )

  test(
    'a question that arrived behind a failing gateway is read when a person sends it again',
    async () => {
      await using guest = await at.open()
      const { page } = guest
      const { platform } = at.world
      platform.reply({ text: 'It was there.' })
      await page.route(
        '**/console/agent',
        async (route) => {
          await route.fetch()
          await route.fulfill({ status: 500, body: '' })
        },
        { times: 1 },
      )
      const turn = await ask(page, 'Behind it?')
      await turn.getByRole('button', { name: en['studio.retry'] }).first().click()
      await turn.locator('.prose', { hasText: 'It was there.' }).waitFor()
      expect(at.world.asked(platform)).toHaveLength(1)
      expect(await shown(page)).toEqual([['Behind it?', 'It was there.']])
    },
    TIMEOUT_MS,
  )

  test(
    'a question that was answered too long ago to be read is shown as it is stored',
    async () => {
      await using guest = await at.open()
      const { page } = guest
      const { platform } = at.world
      platform.reply({ text: 'Long ago.' })
      const gone = { 'x-error-code': 'not_found', 'x-error-params': 'what=turn' }
      let sent = 0
      await page.route('**/console/agent', async (route) => {
        sent += 1
        if (sent > 1) return route.fulfill({ status: 404, headers: gone })
        await route.fetch()
        await route.abort('connectionreset')
      })
      await field(page).fill('When was it?')
      await page.keyboard.press('Enter')
      await soon(() => shown(page), [['When was it?', 'Long ago.']])
      await page.locator('.queue').waitFor({ state: 'detached' })
      expect([sent, at.world.asked(platform).length]).toEqual([2, 1])
      expect(await page.getByRole('button', { name: en['studio.retry'] }).count()).toBe(0)
    },
    TIMEOUT_MS,
  )
})
