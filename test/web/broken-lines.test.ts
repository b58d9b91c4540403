import { afterAll, beforeAll, expect, test } from 'bun:test'
import { en } from '../../web/i18n/en.ts'
import { startLine } from '../support/cut.ts'
import { describeWeb, soon } from './setup.ts'
import { ask, ended, field, shown, turnOf, useStudio } from './studio-page.ts'

const TIMEOUT_MS = 60_000

describeWeb('a line that breaks at the wrong moment', () => {
  const at = useStudio()
  let line: Awaited<ReturnType<typeof startLine>>
  beforeAll(async () => {
    line = await startLine(Number(new URL(at.world.app.url).port))
  })
  afterAll(() => line[Symbol.asyncDispose]())

  test(
    'a question that is written anew stays in its field until it was asked',
    async () => {
      await using guest = await at.open()
      const { page, context } = guest
      const turn = await ask(page, 'Which bridge?')
      await ended(turn)
      await turn.getByRole('button', { name: en['studio.more'] }).click()
      await page.getByRole('menuitem', { name: en['studio.edit'] }).click()
      const editor = page.getByRole('textbox', { name: en['studio.edit'] })
      await editor.fill('Which bridge over the long river?')
      await context.setOffline(true)
      await page.keyboard.press('Enter')
      await page.getByText(en['error.offline']).waitFor()
      expect(await editor.inputValue()).toBe('Which bridge over the long river?')
      await context.setOffline(false)
      at.world.platform.reply({ text: 'The stone one.' })
      await editor.press('Enter')
      const asked = turnOf(page, 'Which bridge over the long river?')
      await asked.locator('.prose', { hasText: 'The stone one.' }).waitFor()
      expect(guest.complaints).toEqual([])
    },
    TIMEOUT_MS,
  )

  test(
    'an answer that is stopped while the server is away stops once it is back',
    async () => {
      await using guest = await at.open()
      const { page, context } = guest
      const { platform } = at.world
      platform.reply({ pieces: ['One', ' two'], hold: { after: 1, until: new Promise(() => {}) } })
      const turn = await ask(page, 'How far?')
      await turn.locator('.prose', { hasText: 'One' }).waitFor()
      await context.setOffline(true)
      const failed = page.waitForEvent('requestfailed', (one) => one.url().endsWith('/stop'))
      await page.getByRole('button', { name: en['studio.stop'] }).click()
      await failed
      await context.setOffline(false)
      await turn.getByText(en['studio.stopped.kept']).waitFor()
      await page.reload()
      await turn.getByText(en['studio.stopped.kept']).waitFor()
      expect(await shown(page)).toEqual([['How far?', 'One']])
    },
    TIMEOUT_MS,
  )

  test(
    'an answer is read on when the server has asked to be called less often',
    async () => {
      await using guest = await at.open(`http://127.0.0.1:${line.port}`)
      const { page } = guest
      const rest = Promise.withResolvers<void>()
      at.world.platform.reply({ pieces: ['One', ' two'], hold: { after: 1, until: rest.promise } })
      const turn = await ask(page, 'How deep?')
      await turn.locator('.prose', { hasText: 'One' }).waitFor()
      await page.route(
        '**/turns/*/events*',
        (route) => route.fulfill({ status: 429, headers: { 'x-error-code': 'rate_limited' } }),
        { times: 1 },
      )
      const refused = page.waitForResponse((answer) => answer.status() === 429)
      line.drop()
      await refused
      rest.resolve()
      await turn.locator('.prose', { hasText: 'One two' }).waitFor()
      expect(await shown(page)).toEqual([['How deep?', 'One two']])
    },
    TIMEOUT_MS,
  )

  test(
    'an answer that a person was signed out of is read on after the sign-in, and told once',
    async () => {
      await using guest = await at.open(`http://127.0.0.1:${line.port}`)
      const { page, context } = guest
      const rest = Promise.withResolvers<void>()
      at.world.platform.reply({ pieces: ['One', ' two'], hold: { after: 1, until: rest.promise } })
      const turn = await ask(page, 'How wide?')
      await turn.locator('.prose', { hasText: 'One' }).waitFor()
      const cookies = await context.cookies()
      await context.clearCookies()
      // With words in the field the page stays, and offers the sign-in in another tab.
      await field(page).fill('Not to be lost')
      line.drop()
      await turn.getByRole('link', { name: en['session.again'] }).waitFor()
      rest.resolve()
      await context.addCookies(cookies)
      await page.evaluate(() => dispatchEvent(new Event('focus')))
      await turn.locator('.prose', { hasText: 'One two' }).waitFor()
      await page.reload()
      await soon(() => shown(page), [['How wide?', 'One two']])
    },
    TIMEOUT_MS,
  )

  test(
    'an answer whose connection falls silent is read on by another one',
    async () => {
      await using guest = await at.open(`http://127.0.0.1:${line.port}`)
      const { page } = guest
      // Silence is half a minute of the page's own time.
      await page.clock.install()
      const rest = Promise.withResolvers<void>()
      at.world.platform.reply({ pieces: ['One', ' two'], hold: { after: 1, until: rest.promise } })
      const turn = await ask(page, 'How cold?')
      await turn.locator('.prose', { hasText: 'One' }).waitFor()
      line.hush()
      rest.resolve()
      await soon(async () => {
        await page.clock.runFor(5_000)
        return turn.locator('.prose').textContent()
      }, 'One two')
    },
    TIMEOUT_MS,
  )

  test(
    'a question whose answer ended before it began is asked once',
    async () => {
      await using guest = await at.open()
      const { page } = guest
      const { platform } = at.world
      platform.reply({ text: 'Only once.' })
      await page.route(
        '**/console/agent',
        async (route) => {
          await route.fetch()
          await route.fulfill({ status: 200, contentType: 'text/event-stream', body: '' })
        },
        { times: 1 },
      )
      await field(page).fill('Is it there?')
      await page.keyboard.press('Enter')
      await turnOf(page, 'Is it there?').locator('.prose', { hasText: 'Only once.' }).waitFor()
      expect(at.world.asked(platform)).toHaveLength(1)
      expect(await shown(page)).toEqual([['Is it there?', 'Only once.']])
    },
    TIMEOUT_MS,
  )
})
