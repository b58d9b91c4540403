import { beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { caller } from '../support/api.ts'
import { type SignedIn, signIn } from '../support/login.ts'
import { seedTenant } from '../support/seed-tenant.ts'
import { describeWeb, soon, useConsole } from './setup.ts'

/** Half a pixel less than what a finger needs. */
const LEAST = 43.5

/** What is pressed and less high than a finger; links in a sentence are let be. */
const tooLow = (page: Page) =>
  page.evaluate((least) => {
    const pressed = 'main :is(a, button, summary, input, select):not([aria-hidden])'
    const heightOf = (one: Element) => {
      const label = one.matches('[type=checkbox], [type=radio]') ? one.closest('label') : null
      const around = one.matches('[role=switch]') ? 24 : 0
      return (label ?? one).getBoundingClientRect().height + around
    }
    return [...document.querySelectorAll(pressed)]
      .filter((one) => one.checkVisibility() && !one.closest('p, .prose'))
      .filter((one) => heightOf(one) < least)
      .map((one) => one.outerHTML.slice(0, 120))
  }, LEAST)

describeWeb('a phone', () => {
  const at = useConsole()
  let owner: SignedIn
  const paths: string[] = ['/app/system/mail', '/app/devices', '/docs']
  beforeAll(async () => {
    owner = await signIn(at.app, 'ada@example.com')
    const { app, device } = await seedTenant(at.app.url, owner.headers.cookie)
    const call = caller(`${at.app.url}/console`, owner.headers)
    await call('POST', '/kb/collections', { name: 'Shop' })
    await call('PUT', `/apps/${app.id}`, { name: 'Shop', collections: ['none'] })
    paths.push(`/app/apps/${app.id}`, `/app/devices/${device.id}`)
  })

  test('everything that is pressed is as high as a finger', async () => {
    const [name = '', value = ''] = owner.headers.cookie.split('=')
    const context = await at.browser.newContext({
      ...{ baseURL: at.app.url, viewport: { width: 390, height: 844 }, locale: 'en-GB' },
      ...{ hasTouch: true, isMobile: true, reducedMotion: 'reduce' as const },
    })
    await context.addCookies([{ name, value, url: at.app.url, httpOnly: true }])
    const page = await context.newPage()
    for (const path of paths) {
      await page.goto(path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.waitForFunction(() => document.querySelector('.skeleton') === null)
      const tabs = page.getByRole('tab')
      await soon(async () => ({ path, low: await tooLow(page) }), { path, low: [] })
      for (let at = 1; at < (await tabs.count()); at++) {
        await tabs.nth(at).click()
        await page.waitForFunction(() => document.querySelector('.skeleton') === null)
        await soon(async () => ({ path, at, low: await tooLow(page) }), { path, at, low: [] })
      }
    }
    await context.close()
    expect(paths).toHaveLength(5)
  }, 120_000)
})
