import { expect, test } from 'bun:test'
import { en } from '../../web/i18n/en.ts'
import { visit } from '../support/chromium.ts'
import { signIn } from '../support/login.ts'
import { describeWeb, soon, useConsole } from './setup.ts'
import { field } from './studio-page.ts'

describeWeb('the theme', () => {
  const at = useConsole()

  test('of an open page follows that of the system, on a phone too', async () => {
    const look = { language: 'en', width: 390, height: 844 } as const
    await using guest = await visit(at.browser, at.app.url, look, await signIn(at.app))
    const { page } = guest
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme)
    await page.goto('/app')
    await field(page).waitFor()
    await soon(theme, 'light')
    await page.emulateMedia({ colorScheme: 'dark' })
    await soon(theme, 'dark')

    // Where there is no side bar a button offers the other theme, and goes on to do so.
    await page.goto('/docs')
    await page.getByRole('button', { name: en['theme.light'] }).waitFor()
    await page.emulateMedia({ colorScheme: 'light' })
    await page.getByRole('button', { name: en['theme.dark'] }).waitFor()
  })

  test('of the system alone shows switches, and the page that is open', async () => {
    await using guest = await visit(
      at.browser,
      at.app.url,
      { language: 'en' },
      await signIn(at.app),
    )
    const { page } = guest
    await page.emulateMedia({ forcedColors: 'active' })
    await page.goto('/app/settings')
    const switched = page.getByRole('switch').first()
    await soon(() => switched.evaluate((one) => getComputedStyle(one).borderTopWidth), '1px')
    const tabs = page.locator('.page-tabs .tab')
    const ground = (one: Element) => getComputedStyle(one).backgroundColor
    const [open, other] = [await tabs.first().evaluate(ground), await tabs.last().evaluate(ground)]
    expect(open).not.toBe(other)
  })
})
