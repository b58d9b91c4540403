import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { en } from '../../web/i18n/en.ts'
import { caller } from '../support/api.ts'
import { visit } from '../support/chromium.ts'
import { signIn } from '../support/login.ts'
import { describeWeb, soon } from './setup.ts'
import { ask, ended, field, turnOf, useStudio } from './studio-page.ts'

const TIMEOUT_MS = 60_000

const sessionOf = (page: Page) => new URL(page.url()).searchParams.get('session') ?? ''
const row = (page: Page, title: string) => page.locator('.rail-item', { hasText: title })

/** Does this with a talk of the side bar, by the menu of its row. */
async function choose(page: Page, title: string, entry: string): Promise<void> {
  await page.getByRole('button', { name: en['studio.actions'].replace('{title}', title) }).click()
  await page.getByRole('menuitem', { name: entry, exact: true }).click()
}

describeWeb('what happens a second time, or too late', () => {
  const at = useStudio()

  test(
    'a double click asks a question again once',
    async () => {
      await using guest = await at.open()
      const { page } = guest
      await ended(await ask(page, 'Which way now?'))
      const both = Promise.withResolvers<void>()
      let branches = 0
      await page.route('**/branch', async (route) => {
        branches += 1
        await both.promise
        await route.continue()
      })
      const before = sessionOf(page)
      await page.getByRole('button', { name: en['studio.again'] }).dblclick()
      both.resolve()
      await page.waitForURL((url) => url.searchParams.get('session') !== before)
      await page.getByText('2/2').waitFor()
      expect(branches).toBe(1)
    },
    TIMEOUT_MS,
  )

  test(
    'an answer that is asked for again stays, also before the versions of its talk are known',
    async () => {
      await using guest = await at.open()
      const { page } = guest
      const known = Promise.withResolvers<void>()
      await page.route('**/versions', async (route) => {
        await known.promise
        await route.continue()
      })
      await ended(await ask(page, 'Which way first?'))
      await page.getByRole('button', { name: en['studio.again'] }).click()
      await page.waitForURL((url) => sessionOf(page) !== '' && url.search.includes('br-'))
      known.resolve()
      await page.getByText('2/2').waitFor()
    },
    TIMEOUT_MS,
  )

  test(
    'on a phone the deletion of the open talk can be undone',
    async () => {
      await using guest = await at.open()
      const { page } = guest
      await page.setViewportSize({ width: 390, height: 800 })
      await ended(await ask(page, 'Keep me on the phone'))
      await page.getByRole('button', { name: en['nav.menu'] }).click()
      await choose(page, 'Keep me on the phone', en['action.delete'])
      await page.getByRole('button', { name: en['studio.undo'] }).click()
      await row(page, 'Keep me on the phone').getByRole('button').first().waitFor()
    },
    TIMEOUT_MS,
  )

  test(
    'a folder that was typed and not chosen is not the one that is offered next',
    async () => {
      await using guest = await at.open()
      const { page } = guest
      await ended(await ask(page, 'Where do I go?'))
      await choose(page, 'Where do I go?', en['talks.file'])
      const folder = page.getByRole('combobox', { name: en['talks.folder'] })
      await folder.fill('Nowhere')
      await page.getByRole('dialog').getByRole('button', { name: en['action.close'] }).click()
      await folder.waitFor({ state: 'detached' })
      await choose(page, 'Where do I go?', en['talks.file'])
      await soon(() => folder.inputValue(), '')
    },
    TIMEOUT_MS,
  )

  test(
    'a talk that was deleted elsewhere is gone here, and what was written for it is not',
    async () => {
      await using guest = await at.open()
      const { page } = guest
      await ended(await ask(page, 'Who deletes me?'))
      await page.reload()
      await turnOf(page, 'Who deletes me?').waitFor()
      await ended(await ask(page, 'Am I there?'))
      await field(page).fill('Half a thought')
      const call = caller(`${at.world.app.url}/console`, at.session.headers)
      await call('DELETE', `/sessions/${sessionOf(page)}?family=1`)
      // As another tab tells it that has deleted the talk.
      await page.evaluate(
        (session) => new BroadcastChannel('mb.conversations').postMessage(session),
        sessionOf(page),
      )
      const begin = page.locator('.talk-turns').getByRole('button', { name: en['studio.new'] })
      // The field that had the focus is gone.
      await soon(() => begin.evaluate((button) => button === document.activeElement), true)
      await begin.press('Enter')
      await soon(() => field(page).inputValue(), 'Half a thought')
    },
    TIMEOUT_MS,
  )

  test(
    'the next person at this tab does not see what the first has typed',
    async () => {
      await using guest = await at.open()
      const { page, context } = guest
      await field(page).fill('for my eyes alone')
      const { url } = at.world.app
      const other = await signIn(at.world.app, 'bob@example.com')
      const [name = '', value = ''] = other.headers.cookie.split('=')
      await context.addCookies([{ name, value, url, httpOnly: true }])
      await page.goto('/app')
      await page.getByText('bob@example.com').first().waitFor()
      await soon(() => field(page).inputValue(), '')
    },
    TIMEOUT_MS,
  )

  test(
    'the address of a talk of somebody else says so, and one that begins is not asked for',
    async () => {
      await using first = await at.open()
      await ended(await ask(first.page, 'Mine alone'))
      const theirs = sessionOf(first.page)
      await using guest = await visit(
        at.browser,
        at.world.app.url,
        { language: 'en' },
        await signIn(at.world.app, 'carol@example.com'),
      )
      const { page } = guest
      for (const session of [theirs, 'never-begun']) {
        await page.goto(`/app?session=${session}`)
        await page.getByRole('paragraph').filter({ hasText: en['studio.gone'] }).waitFor()
        expect(await field(page).isVisible()).toBe(false)
      }
      const missing: string[] = []
      page.on('response', (response) => {
        if (response.status() === 404) missing.push(response.url())
      })
      await page.locator('.talk-turns').getByRole('button', { name: en['studio.new'] }).click()
      await page.getByText(en['studio.empty'], { exact: true }).waitFor()
      await ended(await ask(page, 'A talk of my own'))
      // Both ask again.
      const own = turnOf(page, 'A talk of my own')
      await own.getByRole('button', { name: en['studio.again'] }).click()
      await page.getByText('2/2').waitFor()
      await ended(own)
      expect(missing).toEqual([])
      await page.reload()
      await own.waitFor()
      expect(guest.complaints).toEqual([])
    },
    TIMEOUT_MS,
  )
})
