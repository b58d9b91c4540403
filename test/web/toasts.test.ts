import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { en } from '../../web/i18n/en.ts'
import { signIn } from '../support/login.ts'
import { fillers } from '../support/talks.ts'
import { goTo } from './go-to.ts'
import { describeWeb, soon } from './setup.ts'
import { ask, ended, field, useStudio } from './studio-page.ts'

const TIMEOUT_MS = 120_000

const files = (name: string, count: number) =>
  Array.from({ length: count }, (_, at) => ({
    name: `${at}-${name}`,
    mimeType: name.endsWith('.txt') ? 'text/plain' : 'image/tiff',
    buffer: Buffer.from(name),
  }))

/** Each more than a question may have, which a message says. */
const TOO_MANY = { pictures: files('a.tiff', 9), texts: files('a.txt', 9) }

/** A message whatever the composer holds: what was to be copied is refused. */
async function refuseCopy(page: Page) {
  await page.evaluate(() =>
    Object.assign(navigator.clipboard, { writeText: () => Promise.reject(new Error('refused')) }),
  )
  const copy = page.locator('li.turn').last().getByRole('button', { name: en['copy.action'] })
  await copy.last().click()
  await page.locator('.toast').waitFor()
}

const attach = (page: Page, what: keyof typeof TOO_MANY) =>
  page.locator('form.composer input[type=file]').setInputFiles(TOO_MANY[what])

/**
 * What the messages cover of the composer and of whatever else is pressed, and at the end of a talk
 * of its last words. In its middle the words lie below messages as they do below the composer.
 */
const covered = (page: Page) =>
  page.evaluate(() => {
    if (!document.querySelector('.toast')) return ['no message is there']
    const own = document.querySelector('.toasts')?.getBoundingClientRect() ?? new DOMRect()
    const isCovered = (one: Element) => {
      const { left, right, top, bottom } = one.getBoundingClientRect()
      const [width, height] = [
        Math.min(right, own.right) - Math.max(left, own.left),
        Math.min(bottom, own.bottom) - Math.max(top, own.top),
      ]
      return right > left && width > 1 && height > 1
    }
    const { scrollHeight, scrollTop, clientHeight } = document.documentElement
    const isAtEnd = scrollHeight - scrollTop - clientHeight < 1
    const talk = isAtEnd ? ', .turn:last-child' : ''
    const page = [...document.querySelectorAll(`#root :is(form, button, a, textarea${talk})`)]
    return page
      .filter((one) => isAtEnd || !one.closest('.turn'))
      .filter(isCovered)
      .map((one) => one.getAttribute('aria-label') ?? one.className)
  })

/** How far the page is scrolled, from its start and from its end. */
const scrolled = (page: Page) =>
  page.evaluate(() => {
    const { scrollHeight, scrollTop, clientHeight } = document.documentElement
    return { top: scrollTop, left: Math.round(scrollHeight - scrollTop - clientHeight) }
  })
const left = async (page: Page) => (await scrolled(page)).left

const toEnd = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollTo(0, document.documentElement.scrollHeight))

describeWeb('short messages', () => {
  const studio = useStudio()
  const held = { talk: '' }

  /** A guest in a talk that is longer than any window, and loaded at once. */
  async function inLongTalk(size: { width: number; height: number }) {
    const guest = await studio.open()
    const { page } = guest
    if (held.talk === '') {
      await ended(await ask(page, 'The first of many'))
      held.talk = new URL(page.url()).searchParams.get('session') ?? ''
      const { db } = studio.world.app
      await db.batch(fillers(studio.session.me.tenant_id, held.talk, 2, 24))
    }
    await page.setViewportSize(size)
    await page.goto(`/app?session=${held.talk}`)
    await page.locator('li.turn', { hasText: 'filler25' }).waitFor()
    return guest
  }

  test.each([
    ['a wide window', { width: 1440, height: 900 }],
    ['a window between two bars', { width: 1280, height: 720 }],
    ['a narrow window', { width: 768, height: 1024 }],
    ['a phone', { width: 390, height: 844 }],
  ])(
    'messages stand above the composer and cover nothing: %s',
    async (_name, size) => {
      await using guest = await inLongTalk(size)
      const { page } = guest
      if (size.width > 1200) {
        await page.getByRole('button', { name: en['studio.right'] }).click()
        await page.locator('aside.side').waitFor()
      }
      await toEnd(page)
      await soon(() => left(page), 0)
      await attach(page, 'pictures')
      await soon(() => covered(page), [])
      await soon(() => left(page), 0)
      for (const lines of [5, 1]) {
        await field(page).fill('line\n'.repeat(lines))
        await soon(() => covered(page), [])
        await soon(() => left(page), 0)
      }
      await page.evaluate(() => document.documentElement.scrollBy(0, -600))
      // Its place is above the messages.
      await page.getByRole('button', { name: en['studio.end'] }).waitFor()
      const { top } = await scrolled(page)
      await attach(page, 'texts')
      await soon(() => page.locator('.toast').count(), 2)
      // Messages stay while they are pointed at.
      await page.locator('.toast').last().hover()
      await soon(() => covered(page), [])
      expect((await scrolled(page)).top).toBe(top)
      await toEnd(page)
      await soon(() => covered(page), [])
      for (const count of [1, 0]) {
        await page.locator('.toast').last().getByRole('button').click()
        await soon(() => page.locator('.toast').count(), count)
        await soon(() => left(page), 0)
      }
      expect(await page.locator('.message-room').evaluate((room) => room.clientHeight)).toBe(0)
      expect(guest.complaints).toEqual([])
    },
    TIMEOUT_MS,
  )

  test.each([
    ['a small phone', { width: 360, height: 640 }],
    ['a phone with its keyboard', { width: 360, height: 400 }],
    ['a window enlarged four times', { width: 320, height: 256 }],
  ])(
    'a message lets a small window be used: %s',
    async (_name, size) => {
      await using guest = await inLongTalk(size)
      const { page } = guest
      await toEnd(page)
      await refuseCopy(page)
      await toEnd(page)
      await soon(() => covered(page), [])
      await field(page).fill('line\n'.repeat(5))
      await soon(() => covered(page), [])
      await page.evaluate(() => document.documentElement.scrollBy(0, -600))
      await page.getByRole('button', { name: en['studio.end'] }).waitFor()
      await soon(() => covered(page), [])
      expect(await page.locator('.toast').evaluate((one) => one.checkVisibility())).toBe(true)
    },
    TIMEOUT_MS,
  )

  test(
    'a message is put into the page once, and keeps the focus when its place changes',
    async () => {
      await using guest = await inLongTalk({ width: 1280, height: 720 })
      const { page } = guest
      await page.evaluate(() => {
        Object.assign(window, { told: 0 })
        const count = (records: readonly MutationRecord[]) => {
          const added = records.flatMap(({ addedNodes }) => [...addedNodes])
          const found = added.filter((one) => one instanceof Element && one.matches('.toast'))
          Object.assign(window, { told: Number(Reflect.get(window, 'told')) + found.length })
        }
        new MutationObserver(count).observe(document.body, { childList: true, subtree: true })
      })
      await refuseCopy(page)
      const close = page.locator('.toast').getByRole('button', { name: en['action.close'] })
      await close.focus()
      await page.setViewportSize({ width: 390, height: 400 })
      await soon(() => covered(page), [])
      await page.setViewportSize({ width: 1280, height: 720 })
      await soon(() => covered(page), [])
      const live = page.locator('[aria-live]', { has: page.locator('.toast') })
      expect([await live.count(), await page.evaluate('told')]).toEqual([1, 1])
      expect(await close.evaluate((button) => button === document.activeElement)).toBe(true)
    },
    TIMEOUT_MS,
  )

  test.each([390, 1280])(
    'a message of the page before covers nothing of the chat: %d px',
    async (width) => {
      await using guest = await studio.open()
      const { page } = guest
      await page.setViewportSize({ width, height: 720 })
      await page.goto('/app/settings')
      // Refused, because such a message stays longer.
      await page.route('**/console/settings', (route) =>
        route.request().method() === 'PUT' ? route.fulfill({ status: 400 }) : route.continue(),
      )
      await page.getByRole('textbox', { name: en['settings.name'] }).fill('Moon')
      await page.getByRole('button', { name: en['action.save'] }).first().click()
      await page.locator('.toast').waitFor()
      // Leaving the form is confirmed.
      if (width < 840) await page.getByRole('button', { name: en['nav.menu'] }).click()
      await goTo(page, 'nav.chat')
      await page.getByRole('button', { name: en['unsaved.leave'] }).click()
      await field(page).waitFor()
      await soon(() => covered(page), [])
    },
    TIMEOUT_MS,
  )

  test(
    'a message stays while its button has the focus, and goes soon after',
    async () => {
      await using guest = await studio.open()
      const { page } = guest
      await page.clock.install()
      await attach(page, 'texts')
      await page.locator('.toast').getByRole('button', { name: en['action.close'] }).focus()
      await page.clock.runFor(60_000)
      expect(await page.locator('.toast').count()).toBe(1)
      await field(page).focus()
      await page.clock.runFor(4_000)
      await page.locator('.toast').waitFor({ state: 'detached' })
    },
    TIMEOUT_MS,
  )

  test(
    'a question whether to delete stays when a message beside it is closed',
    async () => {
      const { app } = studio.world
      const { me, headers } = await signIn(app, 'confirms@example.com')
      const issued = await app.key('confirms@example.com')
      expect(issued.tenantId).toBe(me.tenant_id)
      const [name = '', value = ''] = headers.cookie.split('=')
      await using context = await studio.browser.newContext({ hasTouch: true, locale: 'en-GB' })
      await context.addCookies([{ name, value, url: app.url, httpOnly: true }])
      const page = await context.newPage()
      await page.route('**/console/keys/*', (route) => route.fulfill({ status: 500 }))
      await page.goto(`${app.url}/app/keys`)
      const revoke = page.getByRole('button', { name: en['keys.revoke'] })
      await revoke.first().click()
      const question = page.getByRole('alertdialog')
      for (const way of ['click', 'tap'] as const) {
        await question.getByRole('button', { name: en['keys.revoke'] }).click()
        const message = page.locator('.toast')
        await message.getByRole('button', { name: en['action.close'] })[way]()
        await message.waitFor({ state: 'detached' })
        await page.evaluate(() => new Promise(requestAnimationFrame))
        expect([way, await question.count()]).toEqual([way, 1])
      }
    },
    TIMEOUT_MS,
  )
})
