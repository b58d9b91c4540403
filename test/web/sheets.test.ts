import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { en } from '../../web/i18n/en.ts'
import { visit } from '../support/chromium.ts'
import { touchOf } from '../support/touch.ts'
import { describeWeb, soon } from './setup.ts'
import { ask, ended, field, useStudio } from './studio-page.ts'

const TIMEOUT_MS = 60_000
const PHONE = { width: 390, height: 844 }
const Y = 400
/** Longer than what counts for the speed of a finger. */
const REST_MS = 200

interface Side {
  readonly name: string
  readonly width: number
  readonly button: string
  /** The place so far from its edge. */
  readonly x: (inset: number) => number
}

const LEFT: Side = { name: 'left', width: 270, button: en['nav.menu'], x: (inset) => inset }
const RIGHT: Side = {
  ...{ name: 'right', width: 330, button: en['studio.right'] },
  x: (inset) => PHONE.width - inset,
}

/** What is seen of the sheet, and whether the page behind it can be used. */
const seen = (page: Page) =>
  page.evaluate(() => {
    const isInert = document.getElementById('root')?.inert
    const sheet = document.querySelector('.drawer')?.getBoundingClientRect()
    const backdrop = document.querySelector('.overlay')
    if (!sheet || !backdrop) return { shown: 0, dim: 0, isInert }
    const shown = Math.round(Math.min(sheet.right, innerWidth) - Math.max(sheet.left, 0))
    const dim = Math.round(Number(getComputedStyle(backdrop).opacity) * 100)
    return { shown, dim, isInert }
  })

const CLOSED = { shown: 0, dim: 0, isInert: false }
const opened = ({ width }: Side) => ({ shown: width, dim: 100, isInert: true })
const partly = ({ width }: Side, shown: number) => ({
  ...{ shown, dim: Math.round((shown / width) * 100), isInert: true },
})

describeWeb('the sheets of a phone', () => {
  const at = useStudio()

  async function open(look: { reducedMotion?: 'reduce' } = {}) {
    const [name = '', value = ''] = at.session.headers.cookie.split('=')
    const context = await at.browser.newContext({
      ...{ baseURL: at.world.app.url, viewport: PHONE, locale: 'en-GB', serviceWorkers: 'block' },
      ...{ hasTouch: true, isMobile: true, ...look },
    })
    await context.addCookies([{ name, value, url: at.world.app.url, httpOnly: true }])
    const page = await context.newPage()
    await page.goto('/app')
    await field(page).waitFor()
    const main = page.locator('main')
    await soon(() => main.evaluate(({ style }) => style.touchAction), 'pan-y pinch-zoom')
    return {
      ...{ page, down: await touchOf(page) },
      shows: (what: Awaited<ReturnType<typeof seen>>) => soon(() => seen(page), what),
      press: (side: Side) => page.getByRole('button', { name: side.button, exact: true }).click(),
      [Symbol.asyncDispose]: () => context.close(),
    }
  }

  test.each([LEFT, RIGHT])(
    'the $name one is under the finger that pulls it in, and stays where most of it is',
    async (side) => {
      await using phone = await open()
      const { down, shows, page } = phone
      await field(page).focus()
      for (const _ of ['once', 'again']) {
        const short = await down(side.x(40), Y)
        await short.to(side.x(40 + side.width / 2), Y + 20)
        await shows(partly(side, side.width / 2))
        await short.to(side.x(40 + 100), Y + 90)
        await shows(partly(side, 100))
        await short.up(REST_MS)
        await shows(CLOSED)
        await soon(() => field(page).evaluate((one) => one === document.activeElement), true)
      }
      for (const _ of ['once', 'again']) {
        const far = await down(side.x(40), Y)
        await far.to(side.x(40 + 200), Y)
        await far.up(REST_MS)
        await shows(opened(side))
        await soon(() => page.locator('.drawer:focus-within').count(), 1)
        const little = await down(side.x(200), Y)
        await little.to(side.x(120), Y)
        await shows(partly(side, side.width - 80))
        await little.to(side.x(300), Y)
        await shows(opened(side))
        await little.to(side.x(120), Y)
        await little.up(REST_MS)
        await shows(opened(side))
        const away = await down(side.x(side.width + 20), Y)
        await away.to(side.x(side.width - 180), Y)
        await shows(partly(side, side.width - 200))
        await away.up(REST_MS)
        await shows(CLOSED)
      }
    },
    TIMEOUT_MS,
  )

  test(
    'one that is pulled in before its parts are there tells that they come',
    async () => {
      await using phone = await open()
      const { page, down, shows } = phone
      await page.route('**/assets/*.js', () => new Promise<never>(() => {}))
      await (await down(RIGHT.x(40), Y)).to(RIGHT.x(40 + 200), Y)
      await shows(partly(RIGHT, 200))
      await page.locator('.drawer .loading').waitFor()
    },
    TIMEOUT_MS,
  )

  test.each([LEFT, RIGHT])(
    'a flick opens and closes the $name one however short it is',
    async (side) => {
      await using phone = await open()
      const { down, shows } = phone
      for (const _ of ['once', 'again']) {
        const into = await down(side.x(40), Y)
        await into.to(side.x(100), Y, 60)
        await into.up()
        await shows(opened(side))
        const out = await down(side.x(200), Y)
        await out.to(side.x(140), Y, 60)
        await out.up()
        await shows(CLOSED)
      }
      const back = await down(side.x(40), Y)
      await back.to(side.x(40 + 250), Y)
      await back.to(side.x(40 + 200), Y, 80)
      await back.up()
      await shows(CLOSED)
    },
    TIMEOUT_MS,
  )

  test.each([LEFT, RIGHT])(
    'a finger that goes down scrolls the $name one and moves it no more',
    async (side) => {
      await using phone = await open()
      const { page, down, shows, press } = phone
      await page.setViewportSize({ width: PHONE.width, height: 300 })
      await press(side)
      await shows(opened(side))
      if (side === RIGHT) await page.getByRole('button', { name: en['studio.setup'] }).click()
      const scrolled = () => page.locator('.drawer').evaluate(({ scrollTop }) => scrollTop > 0)
      const finger = await down(side.x(side.width - 4), 250)
      await finger.to(side.x(side.width - 9), 150)
      await finger.to(side.x(10), 140)
      await soon(scrolled, true)
      expect(await seen(page)).toEqual(opened(side))
      await finger.up()
      expect(await seen(page)).toEqual(opened(side))
    },
    TIMEOUT_MS,
  )

  test.each([LEFT, RIGHT])(
    'the $name one is whole again when its move is broken off',
    async (side) => {
      await using phone = await open()
      const { page, down, shows, press } = phone
      const pulled = async () => {
        const finger = await down(side.x(40), Y)
        await finger.to(side.x(40 + 200), Y)
        await shows(partly(side, 200))
        return finger
      }
      await (await pulled()).cancel()
      await shows(CLOSED)
      const first = await pulled()
      await first.second(200, 500)
      await shows(CLOSED)
      await first.up()
      const turned = await pulled()
      await page.setViewportSize({ width: PHONE.height, height: PHONE.width })
      await shows(CLOSED)
      await turned.up()
      await page.setViewportSize(PHONE)
      const escaped = await pulled()
      await page.keyboard.press('Escape')
      await shows(CLOSED)
      await escaped.to(side.x(40), Y)
      await escaped.up()
      await press(side)
      await shows(opened(side))
      const held = await down(side.x(200), Y)
      await held.to(side.x(20), Y)
      await shows(partly(side, side.width - 180))
      await held.cancel()
      await shows(opened(side))
      const transform = () => page.locator('.drawer').evaluate(({ style }) => style.transform)
      await soon(transform, '')
    },
    TIMEOUT_MS,
  )

  test(
    'what scrolls sideways, what is typed into and the edge of the screen keep their drags',
    async () => {
      await using phone = await open()
      const { page, down, shows } = phone
      const text = `\`\`\`text\n${'long '.repeat(60)}\n\`\`\`\n\nShort words.`
      at.world.platform.reply({ text })
      await ended(await ask(page, 'A long line'))
      await page.getByRole('button', { name: en['code.wrap'] }).click()
      const code = page.locator('.code-block .code')
      const box = await code.boundingBox()
      if (!box) throw new Error('no code on the page')
      const finger = await down(PHONE.width - 40, box.y + 20)
      await finger.to(PHONE.width - 240, box.y + 20)
      await soon(() => code.evaluate(({ scrollLeft }) => scrollLeft > 100), true)
      await shows(CLOSED)
      await finger.up()
      const typed = await field(page).boundingBox()
      for (const [x, y] of [
        [40, (typed?.y ?? 0) + 10],
        [10, Y],
        [150, Y],
      ] as const) {
        const idle = await down(x, y)
        await idle.to(x + 200, y)
        await idle.up()
        expect(await seen(page)).toEqual(CLOSED)
      }
      const words = await page
        .locator('.prose', { hasText: 'Short words.' })
        .locator('p')
        .boundingBox()
      const pulls = await down(40, (words?.y ?? 0) + 5)
      await pulls.to(240, words?.y ?? 0)
      await shows(partly(LEFT, 200))
      await pulls.cancel()
      await shows(CLOSED)
      // A page that is zoomed in is itself moved sideways.
      const client = await page.context().newCDPSession(page)
      await client.send('Emulation.setPageScaleFactor', { pageScaleFactor: 2 })
      await soon(() => page.locator('main').evaluate(({ style }) => style.touchAction), '')
      const zoomed = await down(100, Y)
      await zoomed.to(300, Y)
      await zoomed.up()
      expect(await seen(page)).toEqual(CLOSED)
    },
    TIMEOUT_MS,
  )

  test(
    'it glides after the finger, but not where a person wants no motion',
    async () => {
      for (const reducedMotion of [undefined, 'reduce'] as const) {
        await using phone = await open(reducedMotion ? { reducedMotion } : {})
        const { page, down, shows } = phone
        await page.evaluate(() => {
          const { animate } = Element.prototype
          Element.prototype.animate = function glide(...all) {
            document.documentElement.dataset.glides = ''
            return animate.apply(this, all)
          }
        })
        const finger = await down(40, Y)
        await finger.to(240, Y)
        await finger.up(REST_MS)
        await shows(opened(LEFT))
        expect(await page.locator('html[data-glides]').count()).toBe(reducedMotion ? 0 : 1)
      }
    },
    TIMEOUT_MS,
  )

  test(
    'nothing of it is loaded where a mouse is the pointer, however narrow the window',
    async () => {
      const look = { language: 'en', ...PHONE } as const
      await using desk = await visit(at.browser, at.world.app.url, look, at.session)
      const { page } = desk
      const scripts: Promise<string>[] = []
      page.on('response', (response) => {
        if (response.url().endsWith('.js')) scripts.push(response.text())
      })
      await page.goto('/app')
      await page.getByRole('button', { name: LEFT.button, exact: true }).click()
      await soon(() => seen(page), opened(LEFT))
      await page.waitForLoadState('networkidle')
      const texts = await Promise.all(scripts)
      expect(texts.length).toBeGreaterThan(1)
      expect(texts.filter((text) => text.includes('pinch-zoom'))).toEqual([])
    },
    TIMEOUT_MS,
  )
})
