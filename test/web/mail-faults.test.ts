import { expect, test } from 'bun:test'
import { en } from '../../web/i18n/en.ts'
import type { Key } from '../../web/i18n/index.tsx'
import { zh } from '../../web/i18n/zh.ts'
import { caller } from '../support/api.ts'
import { visit } from '../support/chromium.ts'
import { signIn } from '../support/login.ts'
import { startMailServer } from '../support/mail-server.ts'
import { describeWeb, useConsole } from './setup.ts'

const SENDER = 'box@example.com'

describeWeb('a mail server that does not take the test mail', () => {
  const at = useConsole()

  test.each([
    ['en', en],
    ['zh', zh],
  ] as const)(
    'in %s the page says why, and what to do next',
    async (language, texts) => {
      const session = await signIn(at.app, 'boss@example.com')
      const operator = caller(`${at.app.url}/console`, session.headers)
      await operator('PUT', '/system', { MB_SIGNUP: 'closed' })
      const refused = await startMailServer()
      await refused.stop()
      const servers = {
        tls: await startMailServer({ secure: true }),
        refuses_login: await startMailServer({ password: 'right' }),
        refuses_sender: await startMailServer({ denied: SENDER }),
        refuses_mail: await startMailServer({ nobody: 'boss@example.com' }),
      }
      const silent = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
      await using guest = await visit(at.browser, at.app.url, { language }, session)
      const { page } = guest
      await page.goto('/app/system/mail')
      const field = (name: Key) => page.getByLabel(texts[name], { exact: true })
      const save = page.getByRole('button', { name: texts['mail.save'] })
      await page.getByLabel(texts['system.name.MB_MAIL_FROM']).fill(SENDER)
      const tryAt = async (url: string, fault: string) => {
        const { protocol, hostname, port } = new URL(url)
        await field('mail.host').fill(hostname)
        await field('mail.security').selectOption(protocol.slice(0, -1))
        await field('mail.port').fill(port)
        const wrong = fault === 'refuses_login' ? 'wrong' : ''
        await field('mail.user').fill(wrong)
        await field('mail.password').fill(wrong)
        await save.click()
        const alert = page.getByRole('alert').filter({ hasText: texts['mail.failed.next'] })
        await alert.getByText(texts[`mail.class.${fault}` as Key]).waitFor()
      }
      await tryAt(refused.url, 'connection_failed')
      for (const [fault, server] of Object.entries(servers)) await tryAt(server.url, fault)
      await tryAt(`smtp://127.0.0.1:${silent.port}`, 'timeout')
      type Settings = { settings: { name: string; secret_tail: string | null }[] }
      const { settings } = (await operator<Settings>('GET', '/system')).json()
      const mail = settings.find(({ name }) => name === 'MB_SMTP_URL')
      expect(mail?.secret_tail ?? null).toBeNull()
      silent.stop(true)
      await Promise.all(Object.values(servers).map((server) => server.stop()))
    },
    90_000,
  )
})

const NOWHERE = { MB_SMTP_URL: 'smtp://127.0.0.1:9', MB_MAIL_FROM: SENDER }

describeWeb('a mail server that was lost', () => {
  const at = useConsole({ env: NOWHERE })

  test('the page takes back that a code is on its way', async () => {
    await using guest = await visit(at.browser, at.app.url, { language: 'en' })
    const { page } = guest
    await page.goto('/login')
    await page.getByRole('textbox', { name: en['login.email'] }).fill('boss@example.com')
    await page.keyboard.press('Enter')
    await page.getByRole('textbox', { name: en['login.code'] }).waitFor()
    await page.getByText(en['login.mail.failing']).waitFor()
    const sent = en['login.mail.sent'].replace('{email}', 'boss@example.com')
    await page.getByText(sent).waitFor({ state: 'detached' })
  }, 60_000)
})
