import { beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { zh } from '../../web/i18n/zh.ts'
import { seriousFindings } from '../support/axe.ts'
import { visit } from '../support/chromium.ts'
import { type SignedIn, signIn } from '../support/login.ts'
import { seedTenant } from '../support/seed-tenant.ts'
import { goTo } from './go-to.ts'
import { describeWeb, soon, useConsole } from './setup.ts'

const PAGES = [
  '/app',
  '/app?session=customer-1042',
  '/app/assistants',
  '/app/activity',
  '/app/apps',
  '/app/apps/new',
  '/app/kb',
  '/app/personas',
  '/app/tools',
  '/app/provider',
  '/app/keys',
  '/app/devices',
  '/app/logs',
  '/app/schedules',
  '/app/usage',
  '/app/settings',
  '/app/prompts',
  '/app/memory',
  '/app/webhooks',
  '/app/members',
  '/app/audit',
  '/app/account',
  '/app/invitations',
  '/app/transfer',
  '/app/nothing-here',
  '/docs',
  '/docs/devices',
  '/docs/settings',
  '/docs/reference',
] as const
const CHAT = PAGES.slice(0, 3)
/** The last is what 400 % leave of a desk. */
const LOOKS = [
  { language: 'zh', theme: 'light', width: 1280, height: 860, pages: PAGES },
  { language: 'en', theme: 'dark', width: 390, height: 800, pages: PAGES },
  { language: 'en', theme: 'light', width: 320, height: 215, pages: CHAT },
  { language: 'zh', theme: 'dark', width: 320, height: 215, pages: CHAT },
] as const

async function open(page: Page, path: string) {
  await page.goto(path)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.waitForFunction(() => document.querySelector('.skeleton') === null)
}

/** Pixels by which something sticks out of the page; a page that fits cannot move sideways. */
const overhang = (page: Page) =>
  page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement
    return Math.max(0, scrollWidth - clientWidth)
  })

describeWeb('every page', () => {
  const at = useConsole()
  let session: SignedIn
  beforeAll(async () => {
    session = await signIn(at.app, 'ada@example.com')
    await seedTenant(at.app.url, session.headers.cookie)
    await at.app.flush()
  })

  for (const look of LOOKS) {
    test(`pages are accessible: ${look.language}, ${look.theme}, ${look.width}`, async () => {
      await using guest = await visit(at.browser, at.app.url, look, session)
      for (const path of look.pages) {
        await open(guest.page, path)
        expect({ path, findings: await seriousFindings(guest.page) }).toEqual({
          path,
          findings: [],
        })
        await soon(async () => ({ path, over: await overhang(guest.page) }), { path, over: 0 })
      }
      expect(guest.complaints).toEqual([])
    }, 300_000)
  }

  test('the sign-in page and dialogs are accessible', async () => {
    await using stranger = await visit(at.browser, at.app.url, { language: 'en' })
    await stranger.page.goto('/login?error=denied')
    await stranger.page.getByRole('textbox').waitFor()
    expect(await seriousFindings(stranger.page)).toEqual([])

    await using guest = await visit(at.browser, at.app.url, { language: 'en' }, session)
    const { page } = guest
    await open(page, '/app/keys')
    await page.getByRole('button', { name: 'Revoke' }).first().click()
    await page.getByRole('alertdialog').getByText('cannot be restored').waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await page.keyboard.press('Escape')
    await open(page, '/app/nothing-here')
    await soon(() => page.title(), 'This page does not exist · Moonbase')
    await goTo(page, 'nav.kb')
    await open(page, '/app/kb')
    await page.getByRole('link', { name: 'Warranty', exact: true }).click()
    await page.getByText('Passage 1').waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await open(page, '/docs/reference')
    await page.getByText('/v1/agent', { exact: true }).click()
    await page.getByRole('button', { name: 'Try it' }).click()
    expect(await seriousFindings(page)).toEqual([])
  }, 60_000)

  test('keyboard shortcuts open the list of shortcuts and the palette', async () => {
    await using guest = await visit(at.browser, at.app.url, { language: 'en' }, session)
    const { page } = guest
    await open(page, '/app/keys')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await soon(() => page.evaluate(() => document.activeElement?.id), 'main')
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').fill('night')
    await page.getByRole('option', { name: 'Night desk', selected: true }).waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Night desk' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').fill('new key')
    await page.getByRole('option', { name: 'New key', selected: true }).click()
    await page.getByRole('dialog', { name: 'New key' }).waitFor()
  }, 60_000)

  test('leaving a form with unsaved input asks first', async () => {
    await using guest = await visit(at.browser, at.app.url, { language: 'en' }, session)
    const { page } = guest
    await open(page, '/app/apps/new')
    await page.getByRole('textbox', { name: 'Name' }).fill('half an app')
    const leave = () => page.getByRole('link', { name: 'Keys', exact: true }).click()
    await leave()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('alertdialog').waitFor({ state: 'detached' })
    expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('half an app')
    await leave()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Discard' }).click()
    await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor()
  }, 60_000)

  test('the menu and the drawer are accessible', async () => {
    const phone = { language: 'zh', theme: 'dark', width: 390, height: 800 } as const
    await using guest = await visit(at.browser, at.app.url, phone, session)
    const { page } = guest
    await open(page, '/app/keys')
    await page.getByRole('button', { name: '更多' }).click()
    await page.getByRole('dialog').getByText('ada@example.com').click()
    await page.getByRole('menuitemradio', { name: '浅色' }).waitFor()
    expect(await seriousFindings(page)).toEqual([])
    // The language that the page has already: its words stay.
    await page.getByRole('menuitemradio', { name: '中文' }).click()
    await page.getByRole('dialog').getByText('ada@example.com').click()
    await page.getByRole('menuitemradio', { name: 'English' }).waitFor()
    expect(await page.getByText(zh['keys.about']).count()).toBe(1)
    await page.getByRole('menuitemradio', { name: 'English' }).click()
    await goTo(page, 'nav.provider')
    await page.getByRole('heading', { level: 1, name: 'Own model' }).waitFor()
    await soon(() => page.evaluate(() => document.documentElement.lang), 'en-GB')
  }, 60_000)

  test('the API reference sends requests', async () => {
    await using stranger = await visit(at.browser, at.app.url, { language: 'en' })
    const { page } = stranger
    const { key } = await at.app.key('ada@example.com')
    await open(page, '/docs/reference')
    await page.getByRole('textbox', { name: 'API key' }).fill(key)
    const operation = page.locator('details', { hasText: 'GET/v1/apps' }).first()
    await operation.locator('summary').click()
    await operation.getByRole('button', { name: 'Try it' }).click()
    await operation.getByRole('button', { name: 'Send' }).click()
    await operation.getByText('200', { exact: true }).first().waitFor()
    const answer = operation.getByRole('textbox', { name: 'Answer' })
    await soon(async () => (await answer.inputValue()).includes('Night desk'), true)
  }, 60_000)

  test('an ended session leads to the sign-in page and back', async () => {
    await using guest = await visit(at.browser, at.app.url, { language: 'en' }, session)
    await guest.context.clearCookies()
    await guest.page.goto('/app/logs')
    await guest.page.waitForURL(/\/login\?next=%2Fapp%2Flogs/)
  }, 60_000)
})
