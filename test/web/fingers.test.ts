import { beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { en } from '../../web/i18n/en.ts'
import { caller } from '../support/api.ts'
import { type SignedIn, signIn } from '../support/login.ts'
import { seedTenant } from '../support/seed-tenant.ts'
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
    const heights = () =>
      page.locator('.sources .badge').evaluateAll((badges) =>
        badges.map((badge) => {
          const { x, y, width, height } = badge.getBoundingClientRect()
          const pressed = (by: number) =>
            badge.contains(document.elementFromPoint(x + width / 2, y + height / 2 + by))
          let [up, down] = [0, 0]
          while (pressed(-up)) up++
          while (pressed(down)) down++
          return Math.min(width, up + down - 1)
        }),
      )
    expect(await page.locator('.sources .badge').count()).toBeGreaterThan(1)
    expect(Math.min(...(await heights()))).toBeGreaterThan(LEAST)
    await page.getByRole('button', { name: en['studio.right'], exact: true }).click()
    const row = page.locator('.why-row').first()
    await row.waitFor()
    expect((await row.boundingBox())?.height).toBeGreaterThan(LEAST)
  }, 60_000)
})
