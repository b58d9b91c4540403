import { describe, expect, test } from 'bun:test'
import { createBrowser } from '../support/browser.ts'
import { signIn, verifyCode } from '../support/login.ts'
import { startMailServer } from '../support/mail-server.ts'
import { startIssuer } from '../support/openid-issuer.ts'
import { startServer } from '../support/server.ts'
import { tempFolder } from '../support/temp.ts'

const start = (url: string, email: string) =>
  fetch(`${url}/auth/email/start`, { method: 'POST', body: JSON.stringify({ email }) })

describe('the whole login through the port of the running program', () => {
  test('a person signs in by the code on the terminal', async () => {
    using folder = tempFolder()
    await using server = await startServer({ dataDir: folder.path })
    const { me, headers } = await signIn(server, 'ada@example.com')
    expect(await (await fetch(`${server.url}/auth/me`, { headers })).json()).toEqual(me)
  })

  test('a person signs in by the code in a mail', async () => {
    using folder = tempFolder()
    const mail = await startMailServer()
    const env = {
      MB_SMTP_URL: mail.url,
      MB_MAIL_FROM: 'Moonbase <bot@bot.example>',
      MB_PUBLIC_URL: 'https://bot.example',
    }
    await using server = await startServer({ dataDir: folder.path, env })
    const methods = await (await fetch(`${server.url}/auth/methods`)).json()
    expect(methods.email_delivery).toBe('mail')

    const incoming = mail.next()
    expect((await start(server.url, 'Ada@Example.com')).status).toBe(200)
    const { from, to, raw } = await incoming
    expect([from, to]).toEqual(['bot@bot.example', ['ada@example.com']])
    expect(raw).toContain('https://bot.example')
    const code = /sign-in code: (\d{6})/.exec(raw)?.[1] ?? ''
    const response = await verifyCode(server, 'ada@example.com', code)
    expect(response.status).toBe(200)
    expect(server.output()).not.toContain(code)
    await server.stop()
    await mail.stop()
  })

  test('a person signs in by an OpenID issuer', async () => {
    using folder = tempFolder()
    const issuer = await startIssuer()
    await using server = await startServer({ dataDir: folder.path, env: issuer.settings })
    issuer.open(`${server.url}/auth/oauth/oidc/callback`)
    issuer.signsIn({ sub: 'ada', email: 'ada@example.com', email_verified: true })
    const browser = createBrowser()
    const end = await browser.follow(
      `${server.url}/auth/oauth/oidc`,
      ({ origin, pathname }) => origin === server.url && !pathname.startsWith('/auth/'),
    )
    expect(end.href).toBe(`${server.url}/`)
    const me = await (await browser.get(`${server.url}/auth/me`)).json()
    expect(me.email).toBe('ada@example.com')
    await issuer.stop()
  })
})
