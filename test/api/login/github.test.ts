import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startApp, type TestApp } from '../../support/app.ts'
import { type Browser, createBrowser } from '../../support/browser.ts'
import { GITHUB_SETTINGS, startGithub } from '../../support/github.ts'

let github: ReturnType<typeof startGithub>
let app: TestApp
beforeAll(async () => {
  github = startGithub()
  app = await startApp({ env: GITHUB_SETTINGS, fetch: github.fetch })
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  github.stop()
})

const isGithub = (url: URL) => url.hostname === 'github.com'
const leave = (browser: Browser) => browser.follow(`${app.url}/auth/oauth/github`, isGithub)
/** Where the browser is sent when it comes back. */
async function comeBack(browser: Browser, callback: string) {
  return (await browser.get(callback)).headers.get('location')
}

describe('login by GitHub', () => {
  test('login by GitHub is offered and asks for addresses only', async () => {
    const methods = await (await fetch(`${app.url}/auth/methods`)).json()
    expect(methods.oauth).toEqual([{ id: 'github', name: 'GitHub' }])
    const page = await leave(createBrowser())
    expect(page.pathname).toBe('/login/oauth/authorize')
    expect(Object.fromEntries(page.searchParams)).toMatchObject({
      client_id: 'gh-client',
      scope: 'user:email',
      code_challenge_method: 'S256',
      redirect_uri: `${app.url}/auth/oauth/github/callback`,
    })
  })

  test('login by GitHub uses the primary address only', async () => {
    github.state.emails = [
      { email: 'second@example.com', primary: false, verified: true },
      { email: 'First@example.com', primary: true, verified: true },
    ]
    const browser = createBrowser()
    const page = await leave(browser)
    expect(await comeBack(browser, github.agree(page.href))).toBe('/')
    const me = await (await browser.get(`${app.url}/auth/me`)).json()
    expect(me.email).toBe('first@example.com')
  })

  const refused = [
    [{ email: 'first@example.com', primary: true, verified: false }],
    [
      { email: 'first@example.com', primary: false, verified: true },
      { email: 'eve@example.com', primary: true, verified: false },
    ],
    [],
  ]
  for (const emails of refused) {
    test(`login by GitHub refuses ${JSON.stringify(emails)}`, async () => {
      github.state.emails = emails
      const browser = createBrowser()
      const page = await leave(browser)
      const location = await comeBack(browser, github.agree(page.href))
      expect(location).toBe('/login?error=unverified_email')
      expect(browser.cookies(app.url).has('mb_session')).toBe(false)
    })
  }

  test('a code that GitHub does not know signs nobody in', async () => {
    const browser = createBrowser()
    const page = await leave(browser)
    const callback = new URL(github.agree(page.href))
    callback.searchParams.set('code', 'x')
    expect(await comeBack(browser, callback.href)).toBe('/login?error=failed')
    expect(app.log()).not.toContain('secret words')
  })

  test('a GitHub code of another verifier signs nobody in', async () => {
    const [mine, theirs] = [createBrowser(), createBrowser()]
    const [page, other] = [await leave(mine), await leave(theirs)]
    const callback = new URL(github.agree(other.href))
    callback.searchParams.set('state', page.searchParams.get('state') ?? '')
    expect(await comeBack(mine, callback.href)).toBe('/login?error=failed')
  })

  test('an outage of the GitHub API is reported as provider_unavailable only', async () => {
    github.state.down = true
    const browser = createBrowser()
    const page = await leave(browser)
    const location = await comeBack(browser, github.agree(page.href))
    github.state.down = false
    expect(location).toBe('/login?error=provider_unavailable')
    expect(app.log()).not.toContain('gho_1')
  })
})
