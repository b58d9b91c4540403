import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { en } from '../../web/i18n/en.ts'
import { visit } from '../support/chromium.ts'
import { signIn } from '../support/login.ts'
import { startServer } from '../support/server.ts'
import { tempFolder } from '../support/temp.ts'
import { goTo } from './go-to.ts'
import { describeWeb, soon, useConsole } from './setup.ts'
import { ask, ended, field, turnOf } from './studio-page.ts'

const KEEPS = { language: 'en', keeps: true } as const
const TIMEOUT_MS = 120_000
const QUESTION = 'Are you back?'

/** Resolves when the console has kept itself. */
const kept = (page: Page) =>
  page.evaluate(async () => {
    const { active } = await navigator.serviceWorker.ready
    while (active?.state !== 'activated') {
      await new Promise((done) => active?.addEventListener('statechange', done, { once: true }))
    }
  })

const pathsKept = (page: Page) =>
  page.evaluate(async () => {
    const names = await caches.keys()
    const all = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()))
    return all.flat().map(({ url }) => url.slice(location.origin.length))
  })

const nobody = () => ({ [Symbol.dispose]() {} })

const gateway = (port: number) => {
  const server = Bun.serve({ port, fetch: () => new Response('Bad gateway', { status: 502 }) })
  return { [Symbol.dispose]: () => void server.stop(true) }
}

describeWeb('the console whose server is away', () => {
  const at = useConsole()

  test.each([
    ['nobody', nobody],
    ['a gateway', gateway],
  ])(
    'opens where %s answers, keeps what is written, and goes on by itself',
    async (_, inPlace) => {
      using folder = tempFolder()
      const first = await startServer({ dataDir: folder.path })
      const session = await signIn(first)
      await using guest = await visit(at.browser, first.url, KEEPS, session)
      const { page } = guest
      await page.goto('/app')
      await field(page).fill('Half a thought')
      await kept(page)
      await first.stop()
      const port = Number(new URL(first.url).port)
      {
        using _stand = inPlace(port)
        await page.reload()
        await page.getByText(en['away.text']).waitFor()
        await soon(() => field(page).inputValue(), 'Half a thought')
        await field(page).fill(QUESTION)
        await page.keyboard.press('Enter')
        await page.getByText(en['studio.queue.away']).waitFor()
        expect(new URL(page.url()).pathname).toBe('/app')
      }
      const env = { MB_PORT: String(port) }
      await using _again = await startServer({ dataDir: folder.path, env })
      await page.getByText(en['away.text']).waitFor({ state: 'detached' })
      await ended(turnOf(page, QUESTION))
    },
    TIMEOUT_MS,
  )

  test(
    'sends nobody to sign in before the server has said so, and goes on once it does',
    async () => {
      const session = await signIn(at.app, 'ada@example.com')
      await using guest = await visit(at.browser, at.app.url, { language: 'en' }, session)
      const { page } = guest
      await page.route('**/auth/me', (route) => route.abort())
      await page.goto('/')
      const told = page.getByRole('alert').filter({ hasText: en['error.offline'] })
      await told.waitFor()
      expect(new URL(page.url()).pathname).toBe('/')
      await page.unroute('**/auth/me')
      await told.getByRole('button', { name: en['action.retry'] }).click()
      await field(page).waitFor()
    },
    TIMEOUT_MS,
  )

  test(
    'keeps its page and its assets, which are the same for everybody, and nothing else',
    async () => {
      const session = await signIn(at.app, 'ada@example.com')
      await using guest = await visit(at.browser, at.app.url, KEEPS, session)
      const { page } = guest
      await page.goto('/app')
      await page.evaluate(() => caches.open('console-of-another-build'))
      await kept(page)
      await page.reload()
      await ended(await ask(page, 'Is this kept?'))
      await goTo(page, 'nav.kb')
      await page.goto('/app/keys?from=elsewhere')
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.waitForLoadState('networkidle')
      const paths = await pathsKept(page)
      expect(paths.filter((path) => !/^\/assets\/[\w-]+\.(js|css)$/.test(path))).toEqual(['/app'])
      expect(paths.length).toBeGreaterThan(20)
      expect(await page.evaluate(() => caches.keys())).toEqual([
        expect.stringMatching(/^console-\w{8}$/),
      ])
      const text = await page.evaluate(async () => (await caches.match('/app'))?.text())
      expect(text).toBe(await (await fetch(`${at.app.url}/login`)).text())
      expect(guest.complaints).toEqual([])
    },
    TIMEOUT_MS,
  )
})
