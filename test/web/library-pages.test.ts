import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import type { LibraryResponse } from '../../src/features/knowledge/library/model.ts'
import { en } from '../../web/i18n/en.ts'
import { caller } from '../support/api.ts'
import { seriousFindings } from '../support/axe.ts'
import { visit } from '../support/chromium.ts'
import { signIn } from '../support/login.ts'
import { choose, fill, row, state, textFile } from './kb-page.ts'
import { describeWeb, useConsole } from './setup.ts'

const TIMEOUT_MS = 60_000

describeWeb('a long list of documents', () => {
  const at = useConsole({ env: { MB_KB_MAX_DOCS: '200' } })
  let people = 0

  /** Somebody with so many pumps and motors, on the page of the knowledge base. */
  async function open(pumps: number, motors = 0) {
    const session = await signIn(at.app, `long${people++}@example.com`)
    const call = caller(`${at.app.url}/console`, session.headers)
    const titles = [
      ...Array.from({ length: pumps }, (_, i) => `Pump ${i + 1}`),
      ...Array.from({ length: motors }, (_, i) => `Motor ${i + 1}`),
    ]
    for (const title of titles) {
      expect((await call('POST', '/kb/docs', { title, text: title })).status).toBe(201)
    }
    const guest = await visit(at.browser, at.app.url, { language: 'en' }, session)
    await guest.page.goto('/app/kb')
    await rows(guest.page).first().waitFor()
    const left = async () =>
      (await call<LibraryResponse>('GET', '/library?sort=title')).json() as LibraryResponse
    return { ...guest, call, left }
  }

  const rows = (page: Page) => page.locator('main li.entry')
  const shown = (page: Page, from: number, to: number, all: number) =>
    page.getByText(fill(en['kb.pages.shown'], { from, to, all })).waitFor()
  const press = (page: Page, name: string) =>
    page.getByRole('button', { name, exact: true }).click()

  test(
    'is read in pages, is looked through by name, and stays where it was after a document',
    async () => {
      await using guest = await open(60, 55)
      const { page } = guest
      await shown(page, 1, 50, 115)
      expect(await rows(page).count()).toBe(50)
      await press(page, en['kb.pages.after'])
      await press(page, en['kb.pages.after'])
      await shown(page, 101, 115, 115)
      await row(page, 'Pump 1').last().getByRole('link').click()
      await page.getByRole('heading', { level: 1, name: 'Pump 1' }).waitFor()
      await page.goBack()
      await shown(page, 101, 115, 115)

      await page.getByRole('searchbox', { name: en['kb.filter.name'] }).fill('motor')
      await shown(page, 1, 50, 55)
      await page.getByRole('combobox', { name: en['kb.sort'] }).selectOption(en['kb.sort.oldest'])
      await page.waitForFunction(() =>
        document.querySelector('main li.entry')?.textContent?.includes('Motor 1'),
      )
      await page.reload()
      await shown(page, 1, 50, 55)
      expect(await rows(page).first().textContent()).toContain('Motor 1')
      await page.getByRole('searchbox', { name: en['kb.filter.name'] }).fill('turbine')
      await page.getByText(en['kb.filter.nothing'], { exact: true }).waitFor()
      expect(await seriousFindings(page)).toEqual([])
      expect(guest.complaints).toEqual([])
    },
    TIMEOUT_MS,
  )

  test(
    'all that a name fits are chosen across pages, and nothing else is deleted',
    async () => {
      await using guest = await open(56, 12)
      const { page } = guest
      await page.getByRole('searchbox', { name: en['kb.filter.name'] }).fill('pump')
      await shown(page, 1, 50, 56)
      await press(page, en['kb.select'])
      await page.getByRole('checkbox', { name: en['kb.select.page'] }).click()
      await page.getByText(fill(en['kb.chosen'], { count: 50, all: 68 })).waitFor()
      await press(page, fill(en['kb.select.matching'], { count: 56 }))
      await page.getByText(fill(en['kb.chosen'], { count: 56, all: 68 })).waitFor()
      await page.getByRole('checkbox', { name: 'Pump 56', exact: true }).click()
      expect(await seriousFindings(page)).toEqual([])
      await press(page, en['action.delete'])
      const question = page.getByRole('alertdialog', { name: /55/ })
      await question.getByText('documents: 55').waitFor()
      await question.getByRole('button', { name: 'Delete 55' }).click()
      await page.getByText(en['kb.deleted'], { exact: true }).waitFor()
      const { docs, items } = await guest.left()
      expect([docs, items.at(-1)?.doc?.title]).toEqual([13, 'Pump 56'])
      expect(guest.complaints).toEqual([])
    },
    TIMEOUT_MS,
  )

  test(
    'when others delete meanwhile, an emptied page and a lost collection give way',
    async () => {
      await using guest = await open(51)
      const { page, call } = guest
      const shop = (await call<{ id: string }>('POST', '/kb/collections', { name: 'Shop' })).json()
      await press(page, en['kb.pages.after'])
      await shown(page, 51, 51, 51)
      const [last] = (
        (await call<LibraryResponse>('GET', '/library?sort=oldest')).json() as LibraryResponse
      ).items
      expect((await call('DELETE', `/kb/docs/${last?.doc?.id}`)).status).toBe(200)
      await page.reload()
      await row(page, 'Pump 51').waitFor()

      // What is added while a collection is shown goes into it, and is seen.
      await press(page, 'Shop · 0')
      await page.getByText(en['kb.collections.empty'], { exact: true }).waitFor()
      await page.getByText(fill(en['kb.add.into'], { name: 'Shop' })).waitFor()
      await choose(page, textFile('Prices.txt', 'A pump costs nine.'))
      await state(page, 'Prices', en['kb.state.ready'])
      await page.getByRole('button', { name: 'Shop · 1' }).waitFor()

      expect((await call('DELETE', `/kb/collections/${shop.id}`)).status).toBe(200)
      await page.reload()
      await row(page, 'Pump 51').waitFor()
      await page.getByRole('button', { name: /Shop/ }).waitFor({ state: 'detached' })
    },
    TIMEOUT_MS,
  )

  test(
    'an answer that comes late is not shown for the question after it',
    async () => {
      await using guest = await open(2)
      const { page } = guest
      const held = Promise.withResolvers<void>()
      let asked = 0
      await page.route('**/console/kb/search', async (route) => {
        if (++asked > 1) return route.continue()
        const answer = await route.fetch()
        await held.promise
        await route.fulfill({ response: answer }).catch(() => {})
      })
      const field = page.getByRole('searchbox', { name: en['kb.search.label'] })
      await field.fill('the first question')
      await field.press('Enter')
      await field.fill('the second question')
      await field.press('Enter')
      const second = fill(en['kb.search.found.of'], { question: 'the second question' })
      await page.getByRole('heading', { name: second }).waitFor()
      held.resolve()
      await field.fill('the third question')
      await field.press('Enter')
      const third = fill(en['kb.search.found.of'], { question: 'the third question' })
      await page.getByRole('heading', { name: third }).waitFor()
      expect(asked).toBe(3)
    },
    TIMEOUT_MS,
  )
})
