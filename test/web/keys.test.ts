import { beforeAll, expect, test } from 'bun:test'
import { en } from '../../web/i18n/en.ts'
import { zh } from '../../web/i18n/zh.ts'
import { caller } from '../support/api.ts'
import { visit } from '../support/chromium.ts'
import { type SignedIn, signIn } from '../support/login.ts'
import { BUILD_MS, describeWeb, useConsole } from './setup.ts'

const TIMEOUT_MS = 60_000

describeWeb('a key is revoked in the console', () => {
  const at = useConsole()
  let session: SignedIn
  beforeAll(async () => {
    session = await signIn(at.app, 'ada@example.com')
  }, BUILD_MS)

  for (const [language, words] of [
    ['en', en],
    ['zh', zh],
  ] as const) {
    test(
      `what it has made is named and ended together with it, in ${language}`,
      async () => {
        const headers = { ...session.headers, origin: at.app.url }
        const me = caller(`${at.app.url}/console`, headers)
        const name = `maker ${language}`
        const maker = (await me<{ id: string; key: string }>('POST', '/keys', { name })).json()
        const v1 = caller(`${at.app.url}/v1`, { authorization: `Bearer ${maker.key}` })
        const { id: appId } = (await v1<{ id: string }>('POST', '/apps', { name: 'a' })).json()
        await v1('POST', `/apps/${appId}/keys`)
        await v1('POST', `/apps/${appId}/shares`, { name: 's' })

        await using guest = await visit(at.browser, at.app.url, { language }, session)
        const { page } = guest
        await page.goto('/app/keys')
        const row = page.getByRole('row').filter({ hasText: name })
        await row.getByRole('button', { name: words['keys.revoke'] }).click()
        const dialog = page.getByRole('alertdialog')
        const choice = words['keys.revoke.made']
          .replace('{keys}', '1')
          .replace('{devices}', '0')
          .replace('{shares}', '1')
        await dialog.getByRole('checkbox', { name: choice }).check()
        await dialog.getByRole('button', { name: words['keys.revoke'] }).click()
        await dialog.waitFor({ state: 'detached' })
        const left = (await me('GET', `/keys/${maker.id}/made`)).json()
        expect(left).toEqual({ keys: [], devices: [], shares: [] })
      },
      TIMEOUT_MS,
    )
  }
})
