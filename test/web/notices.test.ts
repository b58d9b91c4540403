import { expect, test } from 'bun:test'
import { en } from '../../web/i18n/en.ts'
import { visit } from '../support/chromium.ts'
import { signIn } from '../support/login.ts'
import { describeWeb, soon, useConsole } from './setup.ts'

const notice = (name: string) => ({ id: name, text: `Reminder ${name}` })

describeWeb('results and reminders', () => {
  const at = useConsole()

  test('wait to be seen, stay until they are closed, and come a few at a time', async () => {
    const session = await signIn(at.app, 'ada@example.com')
    await using guest = await visit(at.browser, at.app.url, { language: 'en' }, session)
    const { page } = guest
    const read: string[] = []
    await page.route('**/console/notices', (route) =>
      route.fulfill({ json: { notices: ['a', 'b', 'c', 'd'].map(notice) } }),
    )
    await page.route('**/console/notices/*/read', async (route) => {
      read.push(new URL(route.request().url()).pathname.split('/').at(-2) ?? '')
      await route.fulfill({ json: {} })
    })
    await page.addInitScript(() => {
      Object.assign(window, { looks: 'hidden' })
      Object.defineProperty(document, 'visibilityState', {
        get: () => (window as unknown as { looks: string }).looks,
      })
    })
    await page.clock.install()
    const asked = page.waitForResponse('**/console/notices')
    await page.goto('/app/personas')
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.clock.runFor(4_000)
    await asked
    await page.clock.runFor(1_000)
    const told = page.getByRole('region', { name: en['state.messages'] })
    expect([read, await told.getByText('Reminder').count()]).toEqual([[], 0])

    await page.evaluate(() => {
      Object.assign(window, { looks: 'visible' })
      document.dispatchEvent(new Event('visibilitychange'))
    })
    await soon(
      () => told.getByText(/Reminder/).allInnerTexts(),
      ['a', 'b', 'c'].map((one) => notice(one).text),
    )
    await page.clock.runFor(20_000)
    expect(await told.getByText(/Reminder/).count()).toBe(3)
    await told.getByRole('button', { name: en['action.close'] }).first().click()
    await told.getByText('Reminder d').waitFor()
    await soon(async () => read, ['a', 'b', 'c', 'd'])
    expect(guest.complaints).toEqual([])
  }, 60_000)

  test('are told once, also where the server did not hear that they were', async () => {
    const session = await signIn(at.app, 'bo@example.com')
    await using guest = await visit(at.browser, at.app.url, { language: 'en' }, session)
    const { page } = guest
    let heard = 0
    await page.route('**/console/notices', (route) =>
      route.fulfill({ json: { notices: [notice('a')] } }),
    )
    await page.route('**/console/notices/*/read', (route) => {
      heard += 1
      return heard === 1 ? route.abort() : route.fulfill({ json: {} })
    })
    await page.clock.install()
    await page.goto('/app/personas')
    const told = page.getByRole('region', { name: en['state.messages'] })
    const text = told.getByText('Reminder a')
    await page.clock.runFor(5_000)
    await text.waitFor()
    await soon(async () => heard, 1)
    await told.getByRole('button', { name: en['action.close'] }).first().click()
    await page.clock.runFor(35_000)
    await soon(async () => heard, 2)
    expect(await text.count()).toBe(0)
  }, 60_000)
})
