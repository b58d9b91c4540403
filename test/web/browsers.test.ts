import { expect, test } from 'bun:test'
import { en } from '../../web/i18n/en.ts'
import { visit } from '../support/chromium.ts'
import { signIn } from '../support/login.ts'
import { describeWeb, soon, useConsole } from './setup.ts'
import { ended, field } from './studio-page.ts'

const LINES = 'one\ntwo\nthree\nfour'
const LINE_PX = 24

describeWeb('an unusual browser', () => {
  const at = useConsole()

  test('has a field that grows with its text, although its style sheets cannot', async () => {
    await using guest = await visit(
      at.browser,
      at.app.url,
      { language: 'en' },
      await signIn(at.app),
    )
    const { page } = guest
    await page.addInitScript(() => {
      CSS.supports = () => false
      addEventListener('DOMContentLoaded', () => {
        const sheet = new CSSStyleSheet()
        sheet.replaceSync('textarea { field-sizing: fixed !important }')
        document.adoptedStyleSheets = [sheet]
      })
    })
    await page.goto('/app')
    const sizes = () =>
      field(page).evaluate(({ clientHeight: shown, scrollHeight: held }) => ({ shown, held }))
    const empty = await sizes()
    await field(page).fill(LINES)
    await soon(sizes, { shown: empty.held + 3 * LINE_PX, held: empty.held + 3 * LINE_PX })
    await page.keyboard.press('Enter')
    await ended(page.locator('li.turn', { hasText: 'four' }))
    await soon(sizes, empty)
    expect(guest.complaints).toEqual([])
  })

  test('that may keep nothing shows the manual, the sign-in and a talk', async () => {
    const session = await signIn(at.app)
    await using guest = await visit(at.browser, at.app.url, { language: 'en' }, session)
    const { page } = guest
    await page.addInitScript(() => {
      const get = () => {
        throw new DOMException('no', 'SecurityError')
      }
      for (const name of ['localStorage', 'sessionStorage']) {
        Object.defineProperty(window, name, { get })
      }
    })
    await page.goto('/docs')
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.route('**/auth/me', (route) => route.fulfill({ status: 401 }))
    await page.goto('/login')
    await page.getByRole('textbox', { name: en['login.email'] }).waitFor()
    await page.unroute('**/auth/me')
    await page.goto('/app')
    await field(page).fill('Is anything kept?')
    await page.keyboard.press('Enter')
    await ended(page.locator('li.turn', { hasText: 'Is anything kept?' }))
  }, 60_000)

  test('that is too old for the scripts says so', async () => {
    await using guest = await visit(at.browser, at.app.url, { language: 'en' })
    const { page } = guest
    await page.addInitScript(() => Reflect.deleteProperty(Promise, 'withResolvers'))
    await page.goto('/app')
    await page.getByText('This browser is too old').waitFor()
  })
})
