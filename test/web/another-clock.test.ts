import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { en } from '../../web/i18n/en.ts'
import { caller } from '../support/api.ts'
import { describeWeb, soon } from './setup.ts'
import { ask, ended, field, turnOf, useStudio } from './studio-page.ts'

const HOUR_MS = 3_600_000
const TIMEOUT_MS = 60_000

const groups = (page: Page) => page.locator('.rail-group').allInnerTexts()

/** What is asked leaves no word of the server's time. */
const withoutDate = (page: Page) =>
  page.route('**/console/**', async (route) => {
    const response = await route.fetch()
    const { date: _, ...headers } = response.headers()
    await route.fulfill({ response, headers })
  })

describeWeb('another clock, another tab and another device', () => {
  const at = useStudio()

  test.each([2, -2])(
    'a question of the model waits as long where the clock of the browser is %p hours off',
    async (hours) => {
      const call = caller(`${at.world.app.url}/console`, at.session.headers)
      await call('PUT', '/settings', { may_ask: true })
      await using guest = await at.open()
      const { page } = guest
      await page.clock.install({ time: Date.now() + hours * HOUR_MS })
      await page.reload()
      const { platform } = at.world
      const question = { question: 'Which room?', options: ['attic', 'cellar'] }
      platform.reply({ toolCalls: [{ name: 'ask_user', arguments: question }] })
      platform.reply({ text: 'Then dark.' })
      const turn = await ask(page, `Make it dark, ${hours}`)
      const left = await page.getByRole('timer').textContent()
      expect(left).toMatch(/^[45]:\d\d left$/)
      await page.getByRole('button', { name: en['studio.ask.decline'] }).click()
      await ended(turn)
      expect(guest.complaints).toEqual([])
    },
    TIMEOUT_MS,
  )

  test(
    'a page that is left open over midnight says which talks are of yesterday',
    async () => {
      await using guest = await at.open()
      const { page } = guest
      await ended(await ask(page, 'What is today?'))
      await page.clock.install({ time: Date.now() })
      await withoutDate(page)
      await page.reload()
      await soon(() => groups(page), [en['talks.group.today']])
      // All that a page does once it is there has been done.
      await page.clock.runFor(30_000)
      await page.waitForLoadState('networkidle')
      expect(await groups(page)).toEqual([en['talks.group.today']])
      await page.clock.fastForward(24 * HOUR_MS)
      await soon(() => groups(page), [en['talks.group.yesterday']])
    },
    TIMEOUT_MS,
  )

  test(
    'what is asked on another device shows while the page is looked at',
    async () => {
      await using guest = await at.open()
      const { page } = guest
      await ended(await ask(page, 'Asked at the desk'))
      const session_id = new URL(page.url()).searchParams.get('session') ?? ''
      await page.reload()
      await turnOf(page, 'Asked at the desk').waitFor()
      const call = caller(`${at.world.app.url}/console`, at.session.headers)
      at.world.platform.reply({ text: 'Heard on the way.' })
      await call('POST', '/agent', { text: 'Asked on the phone', session_id })
      await turnOf(page, 'Asked on the phone').getByText('Heard on the way.').waitFor()
      expect(guest.complaints).toEqual([])
    },
    TIMEOUT_MS,
  )

  test(
    'a talk that is pinned in one tab is pinned in the others',
    async () => {
      await using guest = await at.open()
      const { page, context } = guest
      await ended(await ask(page, 'Pin me'))
      const other = await context.newPage()
      await other.goto('/app')
      await field(other).waitFor()
      await other.locator('.rail-item', { hasText: 'Pin me' }).waitFor()
      const menu = en['studio.actions'].replace('{title}', 'Pin me')
      await page.getByRole('button', { name: menu }).click()
      await page.getByRole('menuitem', { name: en['talks.pin'], exact: true }).click()
      await other.getByRole('heading', { name: en['talks.group.pinned'] }).waitFor()
    },
    TIMEOUT_MS,
  )
})
