import { describe, expect, test } from 'bun:test'
import { startMailServer } from '../support/mail-server.ts'
import { run } from '../support/run.ts'
import { tempFolder } from '../support/temp.ts'

interface Check {
  readonly name: string
  readonly level: string
  readonly text: string
  readonly mend?: string
}

/** What the doctor says of `name` with these settings. */
async function found(name: string, env: Record<string, string>): Promise<Check[]> {
  using folder = tempFolder()
  const { out } = await run(['doctor', '--json'], folder.path, env)
  const { checks } = JSON.parse(out) as { checks: Check[] }
  return checks.filter((check) => check.name === name)
}

/** Any HTTP server that a person may have named by mistake. */
function startSite(answers: Readonly<Record<string, () => Response>>) {
  const gone = () => new Response('gone', { status: 404 })
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => (answers[new URL(request.url).pathname] ?? gone)(),
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    port: server.port,
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

describe('doctor', () => {
  test('the doctor reports a malformed model address and a missing model', async () => {
    await using site = startSite({
      '/v1/models': () => Response.json({ data: [{ id: 'qwen3' }, { id: 'm\u001b[2J' }] }),
      '/web/models': () => new Response('<html>', { headers: { 'content-type': 'text/html' } }),
    })
    const model = (path: string, name = 'qwen3') =>
      found('Language model', { MB_LLM_BASE_URL: site.url + path, MB_LLM_MODEL: name })
    expect(await model('/v1')).toMatchObject([{ level: 'ok' }])
    for (const path of ['', '/web']) {
      const [check] = await model(path)
      expect(check).toMatchObject({ level: 'warn', text: expect.stringContaining('no list') })
      expect(check?.mend).toContain('/v1')
    }
    const [absent] = await model('/v1', 'gpt-x')
    expect(absent).toMatchObject({ level: 'warn' })
    expect(absent?.mend).toEndWith('qwen3, m?[2J')
  }, 60_000)

  test('the doctor searches by the engine that is set, and reports one without JSON', async () => {
    await using site = startSite({
      '/search': () => Response.json({ results: [] }),
      '/web/search': () => new Response('<html>'),
    })
    const search = (path: string) => found('Web search', { MB_SEARCH_URL: site.url + path })
    expect(await search('')).toMatchObject([{ level: 'ok' }])
    for (const path of ['/web', '/none']) {
      const [check] = await search(path)
      expect(check).toMatchObject({ level: 'fail' })
      expect(check?.mend).toContain('MB_SEARCH_URL')
    }
    expect(await found('Web search', {})).toMatchObject([{ level: 'ok' }])
  }, 60_000)

  test('the doctor reports a mail server that accepts no mail, and sends none', async () => {
    const mail = await startMailServer({ password: 'right' })
    await using site = startSite({})
    try {
      const host = mail.url.replace('smtp://', '')
      const say = (url: string) => found('Mail', { MB_SMTP_URL: url })
      expect(await say(mail.url)).toMatchObject([{ level: 'ok' }])
      expect(await say(`smtp://user:right@${host}`)).toMatchObject([{ level: 'ok' }])
      const [refused] = await say(`smtp://user:wrong@${host}`)
      expect(refused).toMatchObject({ level: 'fail', text: expect.stringContaining('password') })
      expect(JSON.stringify(refused)).not.toContain('wrong')
      expect(await say('smtp://127.0.0.1:9')).toMatchObject([{ level: 'fail' }])
      expect(await say(`smtp://127.0.0.1:${site.port}`)).toMatchObject([{ level: 'fail' }])
      expect(mail.mails).toEqual([])
    } finally {
      await mail.stop()
    }
  }, 60_000)

  test('the doctor reports that nobody can sign in', async () => {
    await using site = startSite({
      '/good/.well-known/openid-configuration': () => Response.json({ issuer: 'x' }),
    })
    const login = (env: Record<string, string>) => found('Login', env)
    const oidc = { MB_OIDC_CLIENT_ID: 'x' }
    expect(await login({ ...oidc, MB_OIDC_ISSUER: `${site.url}/good` })).toEqual([])
    const [dead] = await login({ ...oidc, MB_OIDC_ISSUER: `${site.url}/bad` })
    expect(dead).toMatchObject({ level: 'fail' })
    const plain = { MB_PUBLIC_URL: 'http://moon.example.com' }
    expect((await login(plain))[0]).toMatchObject({ level: 'warn' })
    expect(await login({ ...plain, MB_COOKIE_SECURE: 'false' })).toEqual([])
    expect(await login({ MB_PUBLIC_URL: 'http://localhost:3900' })).toEqual([])
  }, 60_000)
})
