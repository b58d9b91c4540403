import { beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { en } from '../../web/i18n/en.ts'
import { visit } from '../support/chromium.ts'
import { type SignedIn, signIn } from '../support/login.ts'
import { goTo } from './go-to.ts'
import { BUILD_MS, describeWeb, soon, useConsole } from './setup.ts'
import { ask, ended } from './studio-page.ts'

const GREET = { language: 'en' } as const
const TIMEOUT_MS = 60_000

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

describeWeb('what a person made is not lost', () => {
  const at = useConsole()
  let session: SignedIn
  beforeAll(async () => {
    session = await signIn(at.app, 'ada@example.com')
  }, BUILD_MS)

  const open = async (path: string) => {
    const guest = await visit(at.browser, at.app.url, GREET, session)
    await guest.page.goto(path)
    await guest.page.getByRole('heading', { level: 1 }).waitFor()
    return guest
  }
  const read = async (path: string) =>
    (await fetch(at.app.url + path, { headers: session.headers })).json()

  test(
    'a second click issues no second key, and does not hide the first',
    async () => {
      await using guest = await open('/app/keys')
      const { page } = guest
      const { keys: before } = await read('/console/keys')
      await press(page, en['keys.new'])
      const create = page.getByRole('button', { name: en['keys.create'], exact: true })
      await create.waitFor()
      // Time stands still, so that the late click is one of a double click on any machine.
      await page.clock.pauseAt(Date.now() + 60_000)
      await create.dblclick()
      const stored = page.getByRole('button', { name: en['secret.kept'] })
      while (!(await stored.isVisible())) await page.clock.runFor(1)
      const { x = 0, y = 0 } = (await stored.boundingBox()) ?? {}
      // A second click that is late meets what has come in the place of the button.
      await page.mouse.click(x + 4, y + 4)
      await page.clock.resume()
      await stored.click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      const { keys } = await read('/console/keys')
      expect(keys.length - before.length).toBe(1)
    },
    TIMEOUT_MS,
  )

  test(
    'the form of an app that was deleted elsewhere makes a new app of what stands in it',
    async () => {
      const headers = { ...session.headers, origin: at.app.url, 'content-type': 'application/json' }
      const send = (path: string, method: string, body?: object) =>
        fetch(`${at.app.url}/console/apps${path}`, { method, headers, body: JSON.stringify(body) })
      const { id } = (await (await send('', 'POST', { name: 'Doomed' })).json()) as { id: string }
      await using guest = await open(`/app/apps/${id}`)
      const { page } = guest
      await page.getByRole('textbox', { name: en['apps.prompt'] }).fill('Not to be lost.')
      await send(`/${id}`, 'DELETE')
      await press(page, en['action.save'])
      await page.getByRole('alert').filter({ hasText: en['apps.gone'] }).waitFor()
      await press(page, en['apps.create'])
      await page.waitForURL((url) => !url.pathname.endsWith(id))
      const { apps } = await read('/console/apps')
      expect(apps).toMatchObject([{ name: 'Doomed', system_prompt: 'Not to be lost.' }])
    },
    TIMEOUT_MS,
  )

  test(
    'a key is copied on plain http too, and Escape does not hide it',
    async () => {
      await using guest = await open('/docs')
      const { page } = guest
      await page.addInitScript(() => {
        Object.defineProperty(navigator, 'clipboard', { value: undefined })
      })
      await page.goto('/app/keys')
      await press(page, en['keys.new'])
      await press(page, en['keys.create'])
      const secret = page.getByTestId('secret')
      await secret.waitFor()
      await page.keyboard.press('Escape')
      const key = await secret.textContent()
      await page.getByRole('button', { name: en['copy.action'], exact: true }).click()
      await page.getByRole('status').getByText(en['copy.done']).waitFor({ state: 'attached' })
      const other = await guest.context.newPage()
      await other.goto('/docs')
      expect(await other.evaluate(() => navigator.clipboard.readText())).toBe(key ?? '')
    },
    TIMEOUT_MS,
  )

  test(
    'a click beside a dialog leaves what was typed in it',
    async () => {
      await using guest = await open('/app/personas')
      const { page } = guest
      await press(page, en['personas.new'])
      const prompt = page.getByRole('textbox', { name: en['personas.prompt'] })
      await prompt.fill('Ten minutes of work.')
      await page.mouse.click(4, 400)
      await page.keyboard.press('Escape')
      expect(await prompt.inputValue()).toBe('Ten minutes of work.')
      await press(page, en['action.cancel'])
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await press(page, en['personas.new'])
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    },
    TIMEOUT_MS,
  )

  test(
    'a form outlives the session in which it was begun',
    async () => {
      await using guest = await open('/app/apps/new')
      const { page, context } = guest
      const name = page.getByRole('textbox', { name: en['field.name'] })
      await name.fill('half an app')
      const cookies = await context.cookies()
      await context.clearCookies()
      // What the page asks for besides is refused, too, and says the same.
      const refused = page.waitForResponse(
        (response) => response.request().method() === 'POST' && response.status() === 401,
      )
      await press(page, en['apps.create'])
      await refused
      const again = page.getByRole('link', { name: en['session.again'] })
      expect(await again.getAttribute('href')).toBe('/login?next=%2Fapp%2Fapps%2Fnew')
      expect(await name.inputValue()).toBe('half an app')
      await context.addCookies(cookies)
      await press(page, en['apps.create'])
      await page.getByRole('heading', { level: 1, name: 'half an app' }).waitFor()
    },
    TIMEOUT_MS,
  )

  test(
    'a conversation is there after a reload, scrolled to its end',
    async () => {
      await using guest = await open('/app')
      const { page } = guest
      for (const text of ['What is 6*7?', 'first\n'.repeat(40), 'last']) {
        await ended(await ask(page, text))
      }
      await page.reload()
      await page.locator('.bubble', { hasText: 'last' }).waitFor()
      await page.waitForFunction(() => {
        const { scrollTop, scrollHeight, clientHeight } = document.documentElement
        return scrollTop > 0 && scrollTop + clientHeight > scrollHeight - 4
      })
      await goTo(page, 'nav.chat')
      await page.getByText(en['studio.empty']).waitFor()
      await soon(() => page.locator('.bubble').count(), 0)
    },
    TIMEOUT_MS,
  )

  test(
    'the console waits for a server that is restarting',
    async () => {
      await using guest = await open('/app/activity')
      const { page, context } = guest
      await page.waitForLoadState('networkidle')
      await context.setOffline(true)
      await page.evaluate(() => dispatchEvent(new Event('offline')))
      await goTo(page, 'nav.settings')
      await page.getByText(en['away.text']).waitFor()
      await context.setOffline(false)
      await page.getByRole('heading', { level: 1, name: en['nav.settings'] }).waitFor()
      await page.getByText(en['away.text']).waitFor({ state: 'detached' })
      // A page that could not be loaded comes by itself.
      await context.setOffline(true)
      await page.evaluate(() => dispatchEvent(new Event('offline')))
      await goTo(page, 'nav.activity')
      await goTo(page, 'nav.devices')
      await page.getByText(en['away.text']).waitFor()
      await context.setOffline(false)
      await page.getByText(en['devices.empty']).waitFor()
      await goTo(page, 'nav.settings')
      await page.getByRole('textbox', { name: en['field.model'] }).fill('qwen3')
      // The browser may believe itself offline while the server is this machine.
      await page.evaluate(() => dispatchEvent(new Event('offline')))
      await press(page, en['action.save'])
      await page.getByText(en['settings.saved']).waitFor()
    },
    TIMEOUT_MS,
  )

  test(
    'a page reloads when another person has signed in beside it',
    async () => {
      await using guest = await open('/app/settings')
      const { page, context } = guest
      await page.getByText('ada@example.com').first().waitFor()
      const other = await signIn(at.app, 'bob@example.com')
      const [name = '', value = ''] = other.headers.cookie.split('=')
      await context.addCookies([{ name, value, url: at.app.url, httpOnly: true }])
      await page.evaluate(() => dispatchEvent(new Event('visibilitychange')))
      await page.waitForURL(/\/app$/)
      await page.getByText('bob@example.com').first().waitFor()
    },
    TIMEOUT_MS,
  )
})
