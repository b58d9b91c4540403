import { beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { en } from '../../web/i18n/en.ts'
import { visit } from '../support/chromium.ts'
import { type SignedIn, signIn } from '../support/login.ts'
import { seedTenant } from '../support/seed-tenant.ts'
import { goTo } from './go-to.ts'
import { BUILD_MS, describeWeb, soon, useConsole } from './setup.ts'

const TIMEOUT_MS = 60_000

/** Resolves once what has the focus bears that name. */
const focused = (page: Page, name: string) =>
  page.waitForFunction((wanted) => {
    const { activeElement: at } = document
    const label = at?.id ? document.querySelector(`label[for="${at.id}"]`)?.textContent : null
    return (label ?? at?.getAttribute('aria-label') ?? at?.textContent) === wanted
  }, name)

describeWeb('the focus', () => {
  const at = useConsole()
  let session: SignedIn
  beforeAll(async () => {
    session = await signIn(at.app, 'ada@example.com')
    await seedTenant(at.app.url, session.headers.cookie)
  }, BUILD_MS)
  const open = async (path: string) => {
    const guest = await visit(at.browser, at.app.url, { language: 'en' }, session)
    await guest.page.goto(path)
    await guest.page.getByRole('heading', { level: 1 }).waitFor()
    return guest
  }

  test(
    'the focus goes to the first field of a dialog, and back after the last one',
    async () => {
      await using guest = await open('/app/keys')
      const { page } = guest
      await page.getByRole('button', { name: en['keys.new'] }).press('Enter')
      await focused(page, en['keys.name'])
      await page.keyboard.press('Escape')
      await focused(page, en['keys.new'])
      await page.keyboard.press('Enter')
      await focused(page, en['keys.name'])
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: en['secret.kept'] }).click()
      await focused(page, en['keys.new'])
    },
    TIMEOUT_MS,
  )

  test(
    'the focus returns to the menu that led to a dialog',
    async () => {
      await using guest = await open('/app/devices')
      const { page } = guest
      const name = en['devices.actions'].replace('{name}', 'Meeting room')
      await page.getByRole('button', { name }).press('Enter')
      await page.getByRole('menuitem', { name: en['action.edit'] }).press('Enter')
      await focused(page, en['field.name'])
      await page.keyboard.press('Escape')
      await focused(page, name)
    },
    TIMEOUT_MS,
  )

  test(
    'the focus returns to a menu, and to a button that a click gave none, as in Safari',
    async () => {
      await using guest = await open('/app/keys')
      const { page } = guest
      const menu = page.getByRole('button', { name: en['user.menu'] })
      await menu.press('Enter')
      await page.getByRole('menuitem', { name: en['user.logout.all'] }).press('Enter')
      await focused(page, en['action.cancel'])
      await page.keyboard.press('Escape')
      await page.getByRole('alertdialog').waitFor({ state: 'detached' })
      await soon(() => menu.evaluate((one) => one === document.activeElement), true)

      await page.evaluate(() => {
        addEventListener('mousedown', (event) => event.preventDefault())
        const at = document.activeElement as HTMLElement
        at.blur()
      })
      await page.getByRole('button', { name: en['keys.new'] }).click()
      await focused(page, en['keys.name'])
      await page.keyboard.press('Escape')
      await focused(page, en['keys.new'])
    },
    TIMEOUT_MS,
  )

  test(
    'the focus goes from the last row of a list to the one before, and not to a message',
    async () => {
      await using guest = await open('/app/memory')
      const { page } = guest
      for (const text of ['Likes plums', 'Likes pears']) {
        await page.getByRole('textbox', { name: en['memory.add'] }).fill(text)
        await page.getByRole('button', { name: en['action.save'] }).press('Enter')
        await page.locator('li', { hasText: text }).waitFor()
        // It has nothing to save now, and keeps the focus.
        await focused(page, en['action.save'])
      }
      await page.locator('.toast').first().waitFor()
      const nameOf = (key: 'memory.edit' | 'memory.delete', text: string) =>
        en[key].replace('{text}', text)
      await page.getByRole('button', { name: nameOf('memory.edit', 'Likes plums') }).press('Enter')
      await focused(page, en['memory.text'])
      await page.keyboard.press('Escape')
      await focused(page, nameOf('memory.edit', 'Likes plums'))
      const last = page.getByRole('button', { name: nameOf('memory.delete', 'Likes plums') })
      await last.press('Enter')
      await page.getByRole('button', { name: en['memory.delete.go'] }).press('Enter')
      await last.waitFor({ state: 'detached' })
      await focused(page, nameOf('memory.delete', 'Likes pears'))
    },
    TIMEOUT_MS,
  )

  test(
    'the focus goes from the button that folds the side bar to the one that unfolds it, and back',
    async () => {
      await using guest = await open('/app/keys')
      const { page } = guest
      await page.getByRole('button', { name: en['nav.fold'] }).press('Enter')
      await focused(page, en['nav.unfold'])
      await page.keyboard.press('Enter')
      await focused(page, en['nav.fold'])
    },
    TIMEOUT_MS,
  )

  test(
    'the focus goes to the bar for several documents, and back',
    async () => {
      await using guest = await open('/app/kb')
      const { page } = guest
      await page.getByRole('button', { name: en['kb.select'] }).press('Enter')
      await focused(page, en['kb.select.all'])
      await page.getByRole('button', { name: en['action.cancel'] }).press('Enter')
      await focused(page, en['kb.select'])
    },
    TIMEOUT_MS,
  )

  test(
    'a file that cannot be read, or is none of ours, is told of',
    async () => {
      await using guest = await open('/app/transfer')
      const { page } = guest
      const choose = (name: string) =>
        page
          .locator('input[type=file]')
          .setInputFiles({ name, mimeType: 'application/json', buffer: Buffer.from('{}') })
      await choose('other.json')
      await page.getByRole('alert').getByText(en['transfer.wrong']).waitFor()
      await page.evaluate(() => {
        Blob.prototype.text = () => Promise.reject(new DOMException('gone', 'NotReadableError'))
      })
      await choose('moved.json')
      await page.getByRole('alert').getByText(en['transfer.unread']).waitFor()
      expect(guest.complaints).toEqual([])
    },
    TIMEOUT_MS,
  )

  test(
    'the focus stays on a button while it is busy',
    async () => {
      await using guest = await open('/app/settings')
      const { page } = guest
      const answered = Promise.withResolvers<void>()
      await page.route('**/console/settings', async (route) => {
        if (route.request().method() === 'PUT') await answered.promise
        await route.continue()
      })
      await page.getByRole('textbox', { name: en['field.model'] }).fill('qwen3')
      const save = page.getByRole('button', { name: en['action.save'] })
      await save.press('Enter')
      await page.locator('main button[aria-busy=true]').waitFor()
      await focused(page, en['action.save'])
      answered.resolve()
      await page.getByText(en['settings.saved']).waitFor()
      await page.locator('main button[aria-busy=true]').waitFor({ state: 'detached' })
      await focused(page, en['action.save'])
      // There is nothing to save until something changes again.
      await page.locator('main button[aria-disabled=true]', { hasText: 'Save' }).waitFor()
      await page.getByRole('textbox', { name: en['field.model'] }).fill('qwen4')
      await soon(() => save.getAttribute('aria-disabled'), null)
    },
    TIMEOUT_MS,
  )

  test(
    'the focus is on the first field of a page that is a form',
    async () => {
      await using guest = await open('/app/apps')
      const { page } = guest
      await page.getByRole('link', { name: en['apps.new'] }).click()
      await focused(page, en['field.name'])
      await goTo(page, 'nav.chat')
      await focused(page, en['studio.ask'])
    },
    TIMEOUT_MS,
  )
})
