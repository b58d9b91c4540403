import { test } from 'bun:test'
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
})
