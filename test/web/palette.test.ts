import { test } from 'bun:test'
import { en } from '../../web/i18n/en.ts'
import { visit } from '../support/chromium.ts'
import { signIn } from '../support/login.ts'
import { describeWeb, soon, useConsole } from './setup.ts'
import { field } from './studio-page.ts'

describeWeb('the palette', () => {
  const at = useConsole()

  test('opened before its words have come, it lists what is found and no more', async () => {
    const session = await signIn(at.app)
    await using guest = await visit(at.browser, at.app.url, { language: 'en' }, session)
    const { page } = guest
    const held = Promise.withResolvers<void>()
    await page.route('**/assets/*.js', async (route) => {
      const response = await route.fetch()
      if ((await response.text()).includes(en['palette.hint'])) await held.promise
      await route.fulfill({ response })
    })
    await page.goto('/app')
    await field(page).waitFor()
    await page.keyboard.press('Control+k')
    const input = page.getByRole('combobox', { name: en['palette.title'] })
    await input.waitFor()
    held.resolve()
    await page.getByRole('option', { name: en['nav.usage'], exact: true }).waitFor()
    await input.fill('/app/usage')
    await soon(() => page.getByRole('option').allInnerTexts(), [en['nav.usage']])
  })
})
