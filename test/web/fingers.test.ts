import { beforeAll, expect, test } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import { en } from '../../web/i18n/en.ts'
import { caller } from '../support/api.ts'
import { type SignedIn, signIn } from '../support/login.ts'
import { seedTenant } from '../support/seed-tenant.ts'
import { postSse } from '../support/sse.ts'
import { describeWeb, soon, useConsole } from './setup.ts'
import { field } from './studio-page.ts'

/** Half a pixel less than what a finger needs. */
const LEAST = 43.5

/** What is pressed and smaller than a finger; links in a sentence are let be. */
const tooSmall = (page: Page) =>
  page.evaluate((least) => {
    const pressed = 'main :is(a, button, summary, input, select):not([aria-hidden])'
    const sizeOf = (one: Element) => {
      const label = one.matches('[type=checkbox], [type=radio]') ? one.closest('label') : null
      const [across, down] = one.matches('[role=switch]') ? [6, 24] : [0, 0]
      const { width, height } = (label ?? one).getBoundingClientRect()
      return Math.min(width + across, height + down)
    }
    return [...document.querySelectorAll(pressed)]
      .filter((one) => one.checkVisibility() && !one.closest('p, .prose'))
      .filter((one) => sizeOf(one) < least)
      .map((one) => one.outerHTML.slice(0, 120))
  }, LEAST)

/** How wide or high the place is, the smaller of both, that presses each of these. */
const pressedIn = (buttons: Locator) =>
  buttons.evaluateAll((all) =>
    all.map((one) => {
      const { x, y, width, height } = one.getBoundingClientRect()
      const pressed = (right: number, down: number) =>
        one.contains(document.elementFromPoint(x + width / 2 + right, y + height / 2 + down))
      const reach = (right: number, down: number) => {
        let by = 0
        while (pressed(right * by, down * by)) by++
        return by
      }
      return Math.min(reach(1, 0) + reach(-1, 0), reach(0, 1) + reach(0, -1)) - 1
    }),
  )

describeWeb('a phone', () => {
  const at = useConsole()
  let owner: SignedIn
  const paths: string[] = [
    ...['/app/system', '/app/system/mail', '/app/devices', '/app/settings', '/docs'],
  ]
  beforeAll(async () => {
    owner = await signIn(at.app, 'ada@example.com')
    const { app, device } = await seedTenant(at.app.url, owner.headers.cookie)
    const call = caller(`${at.app.url}/console`, owner.headers)
    for (const title of ['Kettle', 'The same kettle']) {
      await call('POST', '/kb/docs', { title, text: 'The blue kettle is descaled every month.' })
    }
    await call('POST', '/kb/collections', { name: 'Shop' })
    await call('PUT', `/apps/${app.id}`, { name: 'Shop', collections: ['none'] })
    paths.push(`/app/apps/${app.id}`, `/app/devices/${device.id}`)
  })

  async function open() {
    const [name = '', value = ''] = owner.headers.cookie.split('=')
    const context = await at.browser.newContext({
      ...{ baseURL: at.app.url, viewport: { width: 390, height: 844 }, locale: 'en-GB' },
      ...{ hasTouch: true, isMobile: true, reducedMotion: 'reduce' as const },
    })
    await context.addCookies([{ name, value, url: at.app.url, httpOnly: true }])
    const page = await context.newPage()
    return { page, [Symbol.asyncDispose]: () => context.close() }
  }

  test('everything that is pressed is as high and as wide as a finger', async () => {
    await using phone = await open()
    const { page } = phone
    for (const path of paths) {
      await page.goto(path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.waitForFunction(() => document.querySelector('.skeleton') === null)
      const tabs = page.getByRole('tab')
      await soon(async () => ({ path, small: await tooSmall(page) }), { path, small: [] })
      for (let at = 1; at < (await tabs.count()); at++) {
        await tabs.nth(at).click()
        await page.waitForFunction(() => document.querySelector('.skeleton') === null)
        await soon(async () => ({ path, at, small: await tooSmall(page) }), { path, at, small: [] })
      }
    }
    expect(paths).toHaveLength(7)
  }, 120_000)

  test('pages that share an entry stand in one row, the one that is shown in view', async () => {
    await using phone = await open()
    const { page } = phone
    for (const path of ['/app/settings', '/app/audit', '/app/transfer']) {
      await page.goto(path)
      const here = page.locator('.page-tabs [aria-current=page]')
      await here.waitFor()
      const [row, tab] = [await page.locator('.page-tabs').boundingBox(), await here.boundingBox()]
      expect(row?.height).toBeLessThan(60)
      expect(tab?.x).toBeGreaterThanOrEqual(0)
      expect((tab?.x ?? 0) + (tab?.width ?? 0)).toBeLessThanOrEqual(390)
    }
  }, 60_000)

  test('sources below an answer and in the sheet are as large as a finger', async () => {
    await using phone = await open()
    const { page } = phone
    await page.goto('/app')
    await field(page).fill('How often is the blue kettle descaled?')
    await page.keyboard.press('Enter')
    await page.locator('.sources .badge').first().waitFor()
    await page.locator('[data-testid=reply][aria-busy=false]').waitFor()
    // Whatever the width of the text: a source in each line.
    await page.locator('.sources > li').evaluateAll((lines) => {
      for (const line of lines as HTMLElement[]) line.style.width = '100%'
    })
    const sources = page.locator('.sources .badge')
    expect(await sources.count()).toBeGreaterThan(1)
    expect(Math.min(...(await pressedIn(sources)))).toBeGreaterThan(LEAST)
    await page.getByRole('button', { name: en['studio.right'], exact: true }).click()
    const row = page.locator('.why-row').first()
    await row.waitFor()
    expect((await row.boundingBox())?.height).toBeGreaterThan(LEAST)
  }, 60_000)

  test('a mark of a source and the cross on a picture reach further than they look', async () => {
    await using phone = await open()
    const { page } = phone
    const ref = { doc_id: 'd', seq: 0, score: 0.9, page: null, heading: null, url: null }
    const refs = ['Kettle', 'Pot', 'Cup'].map((title) => ({ ...ref, title }))
    // In two lines, the marks of which stand below each other.
    const reply = 'It is blue [1][2][3].\n\nIt is large [1][2].'
    const events = [
      { type: 'kb_refs', refs },
      { type: 'llm_end', reply },
    ]
    await page.route('**/console/agent', (route) =>
      route.fulfill({
        ...{ status: 200, contentType: 'text/event-stream' },
        body: events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''),
      }),
    )
    await page.goto('/app')
    const png = await page.screenshot()
    const picture = (name: string) => ({ name, mimeType: 'image/png', buffer: png })
    const input = page.locator('form.composer input[type=file]')
    await input.setInputFiles([picture('a.png'), picture('b.png')])
    const crosses = page.locator('.thumb-drop')
    await soon(() => crosses.count(), 2)
    expect(Math.min(...(await pressedIn(crosses)))).toBeGreaterThan(41)
    await field(page).fill('What is it?')
    await page.keyboard.press('Enter')
    const marks = page.locator('.prose .cite')
    await soon(() => marks.count(), 5)
    expect(Math.min(...(await pressedIn(marks)))).toBeGreaterThan(27)
    const lines = page.locator('.prose p')
    const plain = await lines.evaluateAll(([first]) => {
      const marked = first?.clientHeight
      for (const mark of first?.querySelectorAll('.cite') ?? []) mark.remove()
      return marked === first?.clientHeight
    })
    expect(plain).toBe(true)
  }, 60_000)

  test('a talk is shown with its own title alone, whatever was asked first', async () => {
    const call = caller(`${at.app.url}/console`, owner.headers)
    const asked = { text: 'Which kettle was it again?', session_id: 'titled' }
    await postSse(`${at.app.url}/console/agent`, { headers: owner.headers, body: asked }).then(
      (stream) => stream.all(),
    )
    await call('PUT', '/conversations/titled', { title: 'The kettle' })
    await using phone = await open()
    const { page } = phone
    await page.addInitScript(() => {
      const seen = new Set<string>()
      Object.assign(window, { seen })
      new MutationObserver(() => seen.add(document.querySelector('h1')?.textContent ?? '')).observe(
        document,
        { subtree: true, childList: true, characterData: true },
      )
    })
    // Comes last, as on a slow line.
    await page.route('**/console/conversations/titled', async (route) => {
      const answer = await route.fetch()
      await page.locator('.bubble').waitFor()
      await route.fulfill({ response: answer })
    })
    await page.goto('/app?session=titled')
    await page.getByRole('heading', { level: 1, name: 'The kettle' }).waitFor()
    const seen = await page.evaluate(() => [...(window as unknown as { seen: Set<string> }).seen])
    expect(seen.filter(Boolean)).toEqual(['The kettle'])
  }, 60_000)
})
