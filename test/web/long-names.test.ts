import { beforeAll, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { en } from '../../web/i18n/en.ts'
import { visit } from '../support/chromium.ts'
import { type SignedIn, signIn } from '../support/login.ts'
import { BUILD_MS, describeWeb, soon, useConsole } from './setup.ts'

/** Pages, and the long name that each shows. */
const PAGES = [
  ['/app/apps', 'W'.repeat(60)],
  ['/app/personas', 'P'.repeat(200)],
  ['/app/kb', '标'.repeat(200)],
  ['/app/keys', 'W'.repeat(60)],
  ['/app/devices', 'W'.repeat(60)],
] as const
const WIDTHS = [390, 900, 1440] as const

/**
 * What of a page lies beyond its edges, or beyond those of the card it stands in. A row of tabs
 * scrolls sideways (fingers.test.ts).
 */
const cutOff = (page: Page) =>
  page.evaluate(() =>
    [
      ...document.querySelectorAll(
        'main :is(button:not([role=tab]), select, a:not(.tab), .badge, td)',
      ),
    ]
      .filter((element) => {
        const edges = (element.closest('.card') ?? document.body).getBoundingClientRect()
        const { left, right } = element.getBoundingClientRect()
        return left < edges.left - 1 || right > edges.right + 1
      })
      .map((element) => element.outerHTML.slice(0, 80)),
  )

describeWeb('names as long as they may be', () => {
  const at = useConsole()
  let session: SignedIn
  beforeAll(async () => {
    session = await signIn(at.app, 'ada@example.com')
    const post = async (path: string, body: unknown): Promise<{ id: string }> => {
      const response = await fetch(at.app.url + path, {
        method: 'POST',
        headers: { ...session.headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
      return (await response.json()) as { id: string }
    }
    const prompt = 'x'.repeat(8000)
    const persona = await post('/console/personas', { name: 'P'.repeat(200), prompt })
    const name = 'W'.repeat(60)
    const app = await post('/console/apps', {
      name,
      model: 'm'.repeat(200),
      persona_id: persona.id,
    })
    await post(`/console/apps/${app.id}/keys`, {})
    await post('/console/devices', { name, app_id: app.id, hw_model: 'h'.repeat(200) })
    await post('/console/kb/collections', { name: '集'.repeat(60) })
    await post('/console/kb/docs', { title: '标'.repeat(200), text: 'y'.repeat(900) })
    await post('/console/kb/docs', { title: '题'.repeat(200), text: 'z'.repeat(900) })
  }, BUILD_MS)

  test.each(WIDTHS)(
    'long names push nothing out of view at %p',
    async (width) => {
      const look = { language: 'en', width, height: 800 } as const
      await using guest = await visit(at.browser, at.app.url, look, session)
      const { page } = guest
      for (const [path, name] of PAGES) {
        await page.goto(path)
        await page.getByRole('main').getByText(name).first().waitFor()
        await soon(async () => ({ path, cut: await cutOff(page) }), { path, cut: [] })
      }
      await page.goto('/app/kb')
      await page.getByRole('button', { name: en['kb.select'] }).click()
      await page.getByRole('combobox', { name: en['kb.collections.move'] }).waitFor()
      await soon(() => cutOff(page), [])
    },
    60_000,
  )
})
