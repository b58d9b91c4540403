import { expect, test } from 'bun:test'
import { en } from '../../web/i18n/en.ts'
import { visit } from '../support/chromium.ts'
import { codesFor, signIn } from '../support/login.ts'
import { describeWeb, soon, useConsole } from './setup.ts'

describeWeb('signing in', () => {
  const at = useConsole()

  test('sign-in survives a wrong code, a new code and a reload in between', async () => {
    const email = 'reader@example.com'
    await using guest = await visit(at.browser, at.app.url, { language: 'en' })
    const { page } = guest
    await page.goto('/login?next=%2Fapp%2Fkeys')
    await page.getByRole('textbox', { name: en['login.email'] }).fill(email)
    await page.keyboard.press('Enter')
    const field = page.getByRole('textbox', { name: en['login.code'] })
    await field.fill('000000')
    await page.getByText(en['login.code.wrong']).waitFor()
    // What is typed next takes the place of the wrong one.
    await page.keyboard.type('1')
    await soon(() => field.inputValue(), '1')
    await page.reload()
    await field.waitFor()
    await page.getByRole('button', { name: en['login.resend'] }).click()
    await page.getByText(en['login.resent']).waitFor()
    const code = await at.app.printed.until((text) => codesFor(email, text)[1] ?? null)
    await page.keyboard.type(code)
    await page.getByRole('heading', { level: 1, name: en['nav.keys'] }).waitFor()
  }, 60_000)

  test('what went wrong behind a right code is told, and only until the next one', async () => {
    const email = 'shaken@example.com'
    await using guest = await visit(at.browser, at.app.url, { language: 'en' })
    const { page } = guest
    await page.goto('/login')
    await page.getByRole('textbox', { name: en['login.email'] }).fill(email)
    await page.keyboard.press('Enter')
    const field = page.getByRole('textbox', { name: en['login.code'] })
    await field.waitFor()
    const right = { status: 200, contentType: 'application/json', body: '{}' }
    await page.route('**/auth/email/verify', (route) => route.fulfill(right))
    await field.fill('123456')
    await page.getByText(en['login.dropped']).waitFor()
    await page.route('**/auth/me', (route) => route.abort())
    await field.fill('123457')
    await page.getByText(en['error.offline']).waitFor()
    expect(await page.getByText(en['login.dropped']).count()).toBe(0)
  }, 60_000)

  test('a person who is signed in already is sent to the console', async () => {
    const session = await signIn(at.app, 'ada@example.com')
    await using guest = await visit(at.browser, at.app.url, { language: 'en' }, session)
    await guest.page.goto('/login?next=%2Fapp%2Fusage')
    await guest.page.getByRole('heading', { level: 1, name: en['nav.usage'] }).waitFor()
  }, 60_000)

  test('the sign-in page shows English sentences to an English reader', async () => {
    await using guest = await visit(at.browser, at.app.url, { language: 'en' })
    await guest.page.goto('/login')
    await guest.page.getByRole('textbox', { name: en['login.email'] }).fill('a@b')
    await guest.page.keyboard.press('Enter')
    await guest.page.getByText('This is not a valid e-mail address').waitFor()
  }, 60_000)

  test('an unknown address shows a page that says so', async () => {
    await using guest = await visit(at.browser, at.app.url, { language: 'en' })
    const response = await guest.page.goto('/nothing/here')
    expect(response?.status()).toBe(404)
    await guest.page.getByRole('heading', { level: 1, name: en['missing.title'] }).waitFor()
  }, 60_000)
})
