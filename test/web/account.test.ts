import { expect, test } from 'bun:test'
import { en } from '../../web/i18n/en.ts'
import { seriousFindings } from '../support/axe.ts'
import { visit } from '../support/chromium.ts'
import { signIn } from '../support/login.ts'
import { describeWeb, useConsole } from './setup.ts'

describeWeb('the account page', () => {
  const at = useConsole()

  test('a person adds a passkey, signs in with it, renames and removes it', async () => {
    const url = at.app.url.replace('127.0.0.1', 'localhost')
    const session = await signIn(at.app, 'ada@example.com')
    await using window = await visit(at.browser, url, { language: 'en' }, session)
    const { page, context, complaints } = window
    const device = await context.newCDPSession(page)
    await device.send('WebAuthn.enable')
    await device.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    })
    const button = (name: string) => page.getByRole('button', { name, exact: true })
    await page.goto('/app/account')
    await button(en['passkeys.add']).click()
    await page.getByRole('textbox', { name: en['field.name'] }).fill('Laptop')
    await button(en['passkeys.go']).click()
    await page.getByText('Laptop', { exact: true }).waitFor()
    expect(await seriousFindings(page)).toEqual([])

    await context.clearCookies()
    await page.goto('/login?next=%2Fapp%2Faccount')
    await button(en['login.passkey']).click()
    await page.getByText(en['passkeys.used']).waitFor()

    await button('Rename Laptop').click()
    await page.getByRole('textbox', { name: en['field.name'] }).fill('Desk')
    await button(en['action.save']).click()
    await button('Remove Desk').click()
    await page.getByText(en['passkeys.remove.loss']).waitFor()
    await page.getByRole('alertdialog').getByRole('button', { name: en['passkeys.remove'] }).click()
    await page.getByText(en['passkeys.none'], { exact: true }).waitFor()
    expect(complaints).toEqual([])
  }, 60_000)

  test('removing the last way to sign in says so', async () => {
    const person = await signIn(at.app, 'eve@example.com')
    await using window = await visit(at.browser, at.app.url, { language: 'en' }, person)
    const { page } = window
    const row = { id: '1', name: 'Key', created_at: new Date().toISOString() }
    const passkey = { ...row, last_used_at: null, backed_up: false, transports: [] }
    await page.route('**/auth/passkeys', (route) =>
      route.fulfill({ json: { passkeys: [passkey] } }),
    )
    await page.route('**/auth/methods', (route) =>
      route.fulfill({ json: { email: false, oauth: [], passkey: true, mail: 'terminal' } }),
    )
    await page.goto('/app/account')
    await page.getByRole('button', { name: 'Remove Key' }).click()
    await page.getByText(en['passkeys.remove.last']).waitFor()
  }, 60_000)
})
