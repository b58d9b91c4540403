import { expect, test } from 'bun:test'
import { visit } from '../support/chromium.ts'
import { signIn } from '../support/login.ts'
import { describeWeb, useConsole } from './setup.ts'

describeWeb('an error of the server', () => {
  const at = useConsole()

  test('an error is shown in the words of its code, whatever its sentence says', async () => {
    const session = await signIn(at.app)
    await using guest = await visit(at.browser, at.app.url, { language: 'en' }, session)
    const { page } = guest
    await page.route('**/console/apps', (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({
            status: 403,
            contentType: 'text/plain; charset=utf-8',
            headers: { 'x-error-code': 'quota_keys', 'x-error-params': 'max=9' },
            body: '另一句话',
          })
        : route.continue(),
    )
    await page.goto('/app/apps/new')
    await page.getByRole('textbox', { name: 'Name' }).fill('Night desk')
    await page.getByRole('button', { name: 'Create' }).click()
    const words = page.getByText('The limit of 9 keys is reached, revoked ones included')
    await words.first().waitFor()
    expect(guest.complaints).toEqual([])
  }, 60_000)
})
