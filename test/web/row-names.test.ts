import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { CLIENT_NAMES } from '../../web/features/connect/clients.ts'
import { en } from '../../web/i18n/en.ts'
import { caller } from '../support/api.ts'
import { visit } from '../support/chromium.ts'
import { signIn } from '../support/login.ts'
import { seedTenant } from '../support/seed-tenant.ts'
import { make } from '../support/webhooks.ts'
import { describeWeb, useConsole } from './setup.ts'

/** Names of buttons that more than one row of the page has. */
const shared = (page: Page) =>
  page.locator('main :is(li, tr) button').evaluateAll((buttons) => {
    const names = buttons
      .filter((button) => button.checkVisibility())
      .map((button) => button.getAttribute('aria-label') ?? button.textContent ?? '')
    return names.filter((name, at) => names.indexOf(name) !== at)
  })

describeWeb('what a screen reader says of a page', () => {
  const at = useConsole({ env: { MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1' } })

  test('each button of a row says which row it is of', async () => {
    const session = await signIn(at.app, 'rows@example.com')
    const call = caller(`${at.app.url}/console`, session.headers)
    const { app } = await seedTenant(at.app.url, session.headers.cookie)
    for (const name of ['Front', 'Back']) {
      await make(call, `https://${name}.example.com/`, { name, events: ['run.done'] })
      await call('POST', '/triggers', { name, text: 'Go', app_id: null, webhook_ids: [] })
      await call('POST', `/apps/${app.id}/shares`, { name })
      await call('POST', '/members', { email: `${name}@example.com`, role: 'editor' })
      await call('POST', '/prompts', { name, title: name, text: 'Go' })
      await call('POST', '/schedules', { name, text: 'Go', cron: '0 8 * * *' })
    }
    await call('PUT', `/apps/${app.id}`, { name: 'Shop', tools_enabled: [] })
    await call('PUT', `/apps/${app.id}`, { name: 'Shop', tools_enabled: ['calculator'] })
    await using visited = await visit(at.browser, at.app.url, { language: 'en' }, session)
    const { page } = visited
    const pages = [
      ...['/app/activity', '/app/keys', '/app/webhooks', '/app/members', '/app/personas'],
      ...['/app/prompts', '/app/schedules', '/app/devices', '/app/kb', `/app/apps/${app.id}`],
    ]
    for (const path of pages) {
      await page.goto(path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      const tabs = page.getByRole('tab')
      for (let tab = 0; tab < Math.max(1, await tabs.count()); tab++) {
        if ((await tabs.count()) > tab) await tabs.nth(tab).click()
        await page.waitForFunction(() => document.querySelector('.skeleton') === null)
        expect({ path, tab, shared: await shared(page) }).toEqual({ path, tab, shared: [] })
      }
    }
    await page.goto('/app/webhooks')
    await page.getByRole('button', { name: `${en['action.delete']}: Front` }).click()
    await page.getByRole('alertdialog').getByText(/Front/).waitFor()
  }, 120_000)

  test('the clients to connect are tabs, and the keyboard goes through them', async () => {
    const session = await signIn(at.app, 'tabs@example.com')
    const call = caller(`${at.app.url}/console`, session.headers)
    const made = await call<{ id: string }>('POST', '/apps', { name: 'Shop' })
    await using visited = await visit(at.browser, at.app.url, { language: 'en' }, session)
    const { page } = visited
    await page.goto(`/app/apps/${made.json().id}`)
    await page.getByRole('tab', { name: en['apps.tab.publish'] }).click()
    const list = page.getByRole('tablist', { name: en['connect.client'] })
    const chosen = list.getByRole('tab', { selected: true })
    const names = Object.values(CLIENT_NAMES)
    await chosen.focus()
    const steps = [
      ['ArrowRight', names[1]],
      ['ArrowLeft', names[0]],
      ['ArrowLeft', names.at(-1)],
      ['ArrowRight', names[0]],
      ['End', names.at(-1)],
      ['Home', names[0]],
    ] as const
    for (const [key, name = ''] of steps) {
      await page.keyboard.press(key)
      const has = await chosen.evaluate((tab) => [tab.textContent, tab === document.activeElement])
      expect([key, ...has]).toEqual([key, name, true])
      await page.getByRole('tabpanel', { name, exact: true }).waitFor()
    }
    expect(visited.complaints).toEqual([])
  }, 60_000)
})
