import { expect, test } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import { en } from '../../web/i18n/en.ts'
import { visit } from '../support/chromium.ts'
import type { SignedIn } from '../support/login.ts'
import { startTeam } from '../support/team.ts'
import { describeWeb, soon } from './setup.ts'
import { ask, ended, field, openWhy, turnOf, useStudio } from './studio-page.ts'

const TIMEOUT_MS = 90_000
const SIX_WORDS = 'one two three four five six'
/** Twenty-four words. */
const REPLY = Array.from({ length: 4 }, () => SIX_WORDS).join(' ')

const sessionOf = (page: Page) => new URL(page.url()).searchParams.get('session') ?? ''
const inMenu = (page: Page, name: string) => page.getByRole('menuitem', { name, exact: true })
const prose = (scope: Page | Locator, hasText: string) => scope.locator('.prose', { hasText })

/** Chooses from the menu beside *Answer again* of this turn, or from the one of the rest. */
async function choose(turn: Locator, menu: 'studio.again.menu' | 'studio.more', entry: string) {
  await turn.getByRole('button', { name: en[menu] }).click()
  await inMenu(turn.page(), entry).click()
}

/** The label of what has the focus. */
const focused = (page: Page) =>
  page.evaluate(() => {
    const { activeElement: at } = document
    return at?.getAttribute('aria-label') ?? at?.textContent ?? ''
  })

describeWeb('the buttons below an answer', () => {
  const at = useStudio()
  const lastAsked = () => at.world.asked(at.world.platform).at(-1)?.body

  test(
    'ask for it shorter, longer, or from another model, each in a version that says so',
    async () => {
      const { platform } = at.world
      await using guest = await at.open()
      const { page } = guest
      platform.reply({ text: REPLY })
      const turn = await ask(page, 'How many are there?')
      await ended(turn)
      const first = sessionOf(page)
      platform.reply({ text: 'twelve words' })
      await choose(turn, 'studio.again.menu', en['studio.shorter'])
      await page.getByText('2/2').waitFor()
      await prose(turn, 'twelve words').waitFor()
      const note = en['studio.wished'].replace('{count}', '12')
      await turn.getByText(note).waitFor()
      expect(lastAsked()?.messages[0]?.content).toContain('约 12 字')
      expect(lastAsked()?.messages.at(-1)?.content).toBe('How many are there?')

      // Two words cannot be halved.
      await turn.getByRole('button', { name: en['studio.again.menu'] }).click()
      await inMenu(page, en['studio.longer']).waitFor()
      expect(await inMenu(page, en['studio.shorter']).count()).toBe(0)
      platform.reply({ text: 'from the other one' })
      expect(await inMenu(page, 'fake-embed').count()).toBe(0)
      await inMenu(page, 'fake-2').click()
      await page.getByText('3/3').waitFor()
      await prose(turn, 'from the other one').waitFor()
      expect(lastAsked()?.model).toBe('fake-2')
      expect(await turn.getByText(/^Asked to have/).count()).toBe(0)
      await openWhy(turn)
      await page
        .getByRole('complementary', { name: en['studio.right'] })
        .getByText('fake-2', { exact: true })
        .waitFor()

      await page.reload()
      await page.getByRole('button', { name: en['studio.version.before'] }).click()
      await turn.getByText(note).waitFor()
      await page.getByRole('button', { name: en['studio.version.before'] }).click()
      await prose(turn, REPLY).waitFor()
      await soon(async () => sessionOf(page), first)
      expect(await turn.locator('.bubble').textContent()).toBe('How many are there?')
      await ended(await ask(page, 'And now?'))
      expect(lastAsked()?.model).toBe('fake')
      expect(guest.complaints).toEqual([])
    },
    TIMEOUT_MS,
  )

  test(
    'are reached and left by keys alone',
    async () => {
      const { platform } = at.world
      await using guest = await at.open()
      const { page } = guest
      platform.reply({ text: REPLY })
      const turn = await ask(page, 'By keys?')
      await ended(turn)
      const arrow = turn.getByRole('button', { name: en['studio.again.menu'] })
      await turn.getByRole('button', { name: en['studio.again'] }).focus()
      await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      await soon(() => focused(page), en['studio.shorter'])
      expect(await arrow.getAttribute('aria-expanded')).toBe('true')
      await page.keyboard.press('ArrowDown')
      await soon(() => focused(page), en['studio.longer'])
      await page.keyboard.press('Escape')
      await soon(() => focused(page), en['studio.again.menu'])

      await turn.getByRole('button', { name: en['studio.more'] }).press('Enter')
      await soon(() => focused(page), en['studio.why'])
      await page.keyboard.press('ArrowDown')
      await soon(() => focused(page), en['studio.edit'])
      await page.keyboard.press('Enter')
      const editor = page.getByRole('textbox', { name: en['studio.edit'] })
      await soon(() => editor.evaluate((one) => one === document.activeElement), true)
      await page.keyboard.press('Escape')
      await soon(() => focused(page), en['studio.edit'])

      await arrow.press('Enter')
      await soon(() => focused(page), en['studio.shorter'])
      await page.keyboard.press('ArrowDown')
      await soon(() => focused(page), en['studio.longer'])
      await page.keyboard.press('Enter')
      await page.getByText('2/2').waitFor()
      await soon(async () => JSON.stringify(lastAsked()).includes('约 48 字'), true)
      await ended(turn)
    },
    TIMEOUT_MS,
  )

  test(
    'ask once for two quick choices, and say so where the talk was deleted meanwhile',
    async () => {
      const { platform } = at.world
      await using guest = await at.open()
      const { page } = guest
      platform.reply({ text: REPLY })
      const turn = await ask(page, 'Twice?')
      await ended(turn)
      let branches = 0
      const both = Promise.withResolvers<void>()
      await page.route('**/branch', async (route) => {
        branches += 1
        await both.promise
        await route.continue()
      })
      await choose(turn, 'studio.again.menu', en['studio.longer'])
      await choose(turn, 'studio.again.menu', en['studio.shorter'])
      both.resolve()
      await page.getByText('2/2').waitFor()
      await ended(turn)
      expect(branches).toBe(1)

      await page.request.delete(`/console/sessions/${sessionOf(page)}`)
      await choose(turn, 'studio.again.menu', en['studio.longer'])
      await page
        .locator('.toast')
        .getByText(/not found|does not exist|no longer/i)
        .waitFor()
      await turn.waitFor()
    },
    TIMEOUT_MS,
  )

  test(
    'a model that is gone meanwhile leaves a way back to the usual one',
    async () => {
      const { platform } = at.world
      await using guest = await at.open()
      const { page } = guest
      platform.reply({ text: REPLY })
      const turn = await ask(page, 'Who is there?')
      await ended(turn)
      platform.fault(404)
      await choose(turn, 'studio.again.menu', 'fake-2')
      const card = turn.getByRole('alert')
      await card.waitFor()
      platform.fault(404)
      await card.getByRole('button', { name: en['studio.retry'] }).click()
      await soon(async () => at.world.asked(platform).length, 3)
      expect(lastAsked()?.model).toBe('fake-2')
      await card.waitFor()
      platform.reply({ text: 'the usual one' })
      await card.getByRole('button', { name: en['studio.models.usual'] }).click()
      await prose(turn, 'the usual one').waitFor()
      expect(lastAsked()?.model).toBe('fake')
    },
    TIMEOUT_MS,
  )

  test(
    'go on from an earlier answer, while another one is written, and delete from one on',
    async () => {
      const { platform } = at.world
      await using guest = await at.open()
      const { page } = guest
      for (const text of ['First?', 'Second?']) await ended(await ask(page, text))
      const first = turnOf(page, 'First?')
      const before = sessionOf(page)
      const rest = Promise.withResolvers<void>()
      platform.reply({ pieces: ['Slow', 'ly'], hold: { after: 1, until: rest.promise } })
      await prose(await ask(page, 'Third?'), 'Slow').waitFor()
      await first.getByRole('button', { name: en['studio.again'] }).waitFor({ state: 'hidden' })
      await choose(first, 'studio.more', en['studio.from'])
      await page.getByText(en['studio.from.text']).waitFor()
      await turnOf(page, 'Second?').waitFor({ state: 'detached' })
      await page.getByRole('button', { name: en['action.cancel'] }).click()
      await turnOf(page, 'Third?').waitFor()
      await choose(first, 'studio.more', en['studio.from'])
      await soon(() => focused(page), en['studio.ask'])
      platform.reply({ text: 'otherwise' })
      await prose(await ask(page, 'Otherwise?'), 'otherwise').waitFor()
      rest.resolve()
      expect(sessionOf(page)).not.toBe(before)
      expect(JSON.stringify(lastAsked())).not.toContain('Second?')
      await page.getByRole('button', { name: en['studio.version.before'] }).click()
      await prose(turnOf(page, 'Third?'), 'Slowly').waitFor()

      const third = turnOf(page, 'Third?')
      await choose(turnOf(page, 'Second?'), 'studio.more', en['studio.remove'])
      const dialog = page.getByRole('alertdialog')
      await dialog.getByText(en['studio.remove.loss'].replace('{count}', '1')).waitFor()
      await dialog.getByRole('button', { name: en['action.cancel'] }).click()
      await soon(() => focused(page), en['studio.more'])
      await choose(third, 'studio.more', en['studio.remove'])
      await dialog.getByText(en['studio.remove.one']).waitFor()
      await dialog.getByRole('button', { name: en['action.delete'] }).click()
      await third.waitFor({ state: 'detached' })
      await turnOf(page, 'Second?').waitFor()
      await soon(
        async () => (await page.request.get(`/console/sessions/${before}/history`)).ok(),
        true,
      )
      const left = await page.request.get(`/console/sessions/${before}/transcript`)
      expect((await left.json()).turns).toEqual([])
      // The name of the talk has no number of a version.
      await page.getByRole('heading', { level: 1, name: 'First?', exact: true }).waitFor()
      // What stays is a version of its own, which began after the other one.
      await page.getByRole('button', { name: en['studio.version.before'] }).click()
      await turnOf(page, 'Otherwise?').waitFor()
    },
    TIMEOUT_MS,
  )

  test(
    'a viewer is offered no model, and the first question goes with its whole talk',
    async () => {
      const { app, platform } = at.world
      const viewer = await (await startTeam(app)).join('viewer')
      const signedIn = { ...at.session, headers: viewer.headers as SignedIn['headers'] }
      await using guest = await visit(at.browser, app.url, { language: 'en' }, signedIn)
      const { page } = guest
      await page.goto('/app')
      platform.reply({ text: REPLY })
      const turn = await ask(page, 'May I?')
      await ended(turn)
      await turn.getByRole('button', { name: en['studio.again.menu'] }).click()
      expect(await page.getByRole('menuitem').allInnerTexts()).toEqual([
        en['studio.shorter'],
        en['studio.longer'],
      ])
      await page.keyboard.press('Escape')
      await choose(turn, 'studio.more', en['studio.remove'])
      const dialog = page.getByRole('alertdialog')
      await dialog.getByText(en['studio.remove.all']).waitFor()
      await dialog.getByRole('button', { name: en['action.delete'] }).click()
      await turn.waitFor({ state: 'detached' })
      await page.getByRole('heading', { level: 1, name: en['studio.fresh'] }).waitFor()
      await field(page).waitFor()
    },
    TIMEOUT_MS,
  )
})
