import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { en } from '../../web/i18n/en.ts'
import { describeWeb, soon } from './setup.ts'
import { ask, ended, field, turnOf, useStudio } from './studio-page.ts'

const TIMEOUT_MS = 90_000

/** The name of what has the focus. */
const focused = (page: Page) =>
  page.evaluate(() => {
    const { activeElement: at } = document
    return at?.getAttribute('aria-label') ?? at?.textContent ?? ''
  })

const press = (page: Page, name: string) =>
  page.getByRole('button', { name, exact: true }).press('Enter')

describeWeb('the focus in a talk', () => {
  const at = useStudio()

  test(
    'stays in the field when another talk is opened by a key or a button',
    async () => {
      await using guest = await at.open()
      const { page } = guest
      await ended(await ask(page, 'The first talk'))
      await page.keyboard.press('Control+Shift+o')
      await page.getByRole('heading', { level: 1, name: en['studio.fresh'] }).waitFor()
      await soon(() => focused(page), en['studio.ask'])
      await ended(await ask(page, 'The second talk'))
      await page.keyboard.press('Alt+ArrowDown')
      await turnOf(page, 'The first talk').waitFor()
      await soon(() => focused(page), en['studio.ask'])
      await page.locator('.talk-head').getByRole('button', { name: en['studio.new'] }).click()
      await page.getByRole('heading', { level: 1, name: en['studio.fresh'] }).waitFor()
      await soon(() => focused(page), en['studio.ask'])
    },
    TIMEOUT_MS,
  )

  test(
    'leaves the words where they are when it goes to a bar that stands still',
    async () => {
      await using guest = await at.open()
      const { page } = guest
      const lines = Array.from({ length: 200 }, (_, line) => `Line ${line}.\n\n`)
      at.world.platform.reply({ text: lines.join('') })
      await ended(await ask(page, 'Many lines'))
      const scrolled = () => page.evaluate(() => document.documentElement.scrollTop)
      await page.evaluate(() => document.documentElement.scrollTo(0, 1500))
      for (const name of [en['studio.right'], en['studio.add'], en['user.menu']]) {
        await page.getByRole('button', { name }).first().focus()
        expect(await scrolled()).toBe(1500)
      }
      await page.getByRole('button', { name: /^Who answers/ }).press('Enter')
      await page.getByRole('menu').waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('menu').waitFor({ state: 'detached' })
      expect(await scrolled()).toBe(1500)
    },
    TIMEOUT_MS,
  )

  test(
    'goes on to what came next when a file or a waiting question is dropped',
    async () => {
      await using guest = await at.open()
      const { page } = guest
      const files = ['a.txt', 'b.txt'].map((name) => {
        return { name, mimeType: 'text/plain', buffer: Buffer.from(name) }
      })
      await page.locator('input[type=file]').setInputFiles(files)
      const drop = (name: string) => en['studio.attached.drop'].replace('{name}', name)
      await page.getByRole('button', { name: /^Keep b.txt/ }).waitFor()
      await press(page, drop('b.txt'))
      await soon(() => focused(page), en['studio.ask'])
      await press(page, drop('a.txt'))
      await soon(() => focused(page), en['studio.ask'])

      const rest = Promise.withResolvers<void>()
      at.world.platform.reply({ pieces: ['One', ' two'], hold: { after: 1, until: rest.promise } })
      const turn = await ask(page, 'A long one')
      await turn.locator('.prose', { hasText: 'One' }).waitFor()
      for (const text of ['Then this', 'And that']) {
        await field(page).fill(text)
        await page.keyboard.press('Enter')
      }
      await press(page, en['studio.queue.drop'].replace('{text}', 'Then this'))
      await soon(() => focused(page), en['studio.queue.edit'].replace('{text}', 'And that'))
      rest.resolve()
      await ended(turnOf(page, 'And that'))
    },
    TIMEOUT_MS,
  )

  test(
    'follows the version of a question, and returns to the pencil of one that stays',
    async () => {
      await using guest = await at.open()
      const { page } = guest
      await ended(await ask(page, 'What is it?'))
      await press(page, en['studio.edit'])
      await page.keyboard.type('!')
      const edited = page.getByRole('textbox', { name: en['studio.edit'] })
      expect(await edited.inputValue()).toBe('What is it?!')
      await page.keyboard.press('Escape')
      await soon(() => focused(page), en['studio.edit'])
      await page.keyboard.press('Enter')
      await edited.fill('What is that?')
      await page.keyboard.press('Enter')
      await ended(turnOf(page, 'What is that?'))
      await page.getByText('2/2', { exact: true }).waitFor()
      await soon(() => focused(page), en['studio.ask'])
      await press(page, en['studio.version.before'])
      await page.getByText('1/2', { exact: true }).waitFor()
      await soon(() => focused(page), en['studio.version.before'])
      await press(page, en['studio.version.after'])
      await page.getByText('2/2', { exact: true }).waitFor()
      await soon(() => focused(page), en['studio.version.after'])
    },
    TIMEOUT_MS,
  )

  test(
    'goes to the next talk when one is deleted or put away, and returns when it is kept',
    async () => {
      await using guest = await at.open()
      const { page } = guest
      for (const text of ['Talk of apples', 'Talk of pears', 'Talk of plums']) {
        await ended(await ask(page, text))
        await page.keyboard.press('Control+Shift+o')
        await page.getByRole('heading', { level: 1, name: en['studio.fresh'] }).waitFor()
      }
      const row = (text: string) => page.locator('.rail-link', { hasText: text })
      const act = async (text: string, label: string) => {
        await row(text).focus()
        await page.keyboard.press('ArrowRight')
        await page.keyboard.press('Enter')
        await page.getByRole('menuitem', { name: label, exact: true }).press('Enter')
      }
      await act('Talk of plums', en['action.delete'])
      await soon(() => focused(page), en['studio.undo'])
      await page.keyboard.press('Enter')
      await soon(() => focused(page), 'Talk of plums')
      await act('Talk of plums', en['talks.put-away'])
      await row('Talk of plums').waitFor({ state: 'detached' })
      await soon(() => focused(page), 'Talk of pears')
      await act('Talk of pears', en['action.delete'])
      await soon(() => focused(page), en['studio.undo'])
      await page.locator('.rail-item', { hasText: 'Talk of pears' }).waitFor({ state: 'detached' })
      await soon(() => focused(page), 'Talk of apples')
      expect(guest.complaints).toEqual([])
    },
    TIMEOUT_MS,
  )

  test(
    'goes with a talk that is pinned, and returns to the field when a tool is refused',
    async () => {
      await using guest = await at.open()
      const { page } = guest
      for (const text of ['Talk of nuts', 'Talk of figs', 'Talk of limes']) {
        await ended(await ask(page, text))
        await page.keyboard.press('Control+Shift+o')
        await page.getByRole('heading', { level: 1, name: en['studio.fresh'] }).waitFor()
      }
      await page.locator('.rail-link', { hasText: 'Talk of figs' }).focus()
      await page.keyboard.press('ArrowRight')
      await page.keyboard.press('Enter')
      await page.getByRole('menuitem', { name: en['talks.pin'] }).press('Enter')
      await page.getByRole('heading', { name: en['talks.group.pinned'] }).waitFor()
      await soon(() => focused(page), 'Talk of figs')

      await page.request.put('/console/settings', { data: { may_ask: true } })
      const { platform } = at.world
      platform.reply({ toolCalls: [{ name: 'ask_user', arguments: { question: 'Which one?' } }] })
      platform.reply({ text: 'None then.' })
      const asked = await ask(page, 'Take one')
      // Its buttons have nothing more to do until the card has gone.
      await page.route('**/console/agent/asks/*', async (route) => {
        await page.locator('button[aria-disabled=true]', { hasText: decline }).waitFor()
        await route.continue()
      })
      const decline = en['studio.ask.decline']
      await press(page, decline)
      await ended(asked)
      await soon(() => focused(page), en['studio.ask'])
      expect(guest.complaints).toEqual([])
    },
    TIMEOUT_MS,
  )

  test(
    'stays at the question that was edited on a touch screen',
    async () => {
      const touch = { width: 390, height: 844 }
      const context = await at.browser.newContext({
        ...{ baseURL: at.world.app.url, locale: 'en-GB', viewport: touch },
        ...{ hasTouch: true, isMobile: true },
      })
      const [name = '', value = ''] = at.session.headers.cookie.split('=')
      await context.addCookies([{ name, value, url: at.world.app.url, httpOnly: true }])
      const page = await context.newPage()
      await page.goto('/app')
      await ended(await ask(page, 'What stays here?'))
      await press(page, en['studio.edit'])
      await page.getByRole('textbox', { name: en['studio.edit'] }).fill('What stays there?')
      await page.keyboard.press('Enter')
      const edited = turnOf(page, 'What stays there?')
      await page.getByText('2/2', { exact: true }).waitFor()
      await ended(edited)
      await soon(() => edited.evaluate((one) => one.contains(document.activeElement)), true)
      await context.close()
    },
    TIMEOUT_MS,
  )
})
