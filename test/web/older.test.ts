import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { en } from '../../web/i18n/en.ts'
import { visit } from '../support/chromium.ts'
import { signIn } from '../support/login.ts'
import { fillers } from '../support/talks.ts'
import { describeWeb, soon, useConsole } from './setup.ts'
import { ask, ended, field, turnOf } from './studio-page.ts'

/** Waits until the heights of turns that came into view are no longer guessed. */
const settled = (page: Page) =>
  page.evaluate(async () => {
    let height = 0
    for (let same = 0; same < 10; same++) {
      await new Promise(requestAnimationFrame)
      const { scrollHeight } = document.documentElement
      if (scrollHeight !== height) same = 0
      height = scrollHeight
    }
  })

describeWeb('a long talk', () => {
  const at = useConsole()

  /** A page with a talk of so many turns, of which it shows the newest. */
  async function open(count: number, look: { readonly height?: number; readonly width?: number }) {
    const session = await signIn(at.app)
    const guest = await visit(at.browser, at.app.url, { language: 'en', ...look }, session)
    const { page } = guest
    await page.goto('/app')
    await field(page).waitFor()
    await ended(await ask(page, 'The first of many'))
    const id = new URL(page.url()).searchParams.get('session') ?? ''
    await at.app.db.batch(fillers(session.me.tenant_id, id, 2, count))
    await page.reload()
    return guest
  }

  test('stays where it is when its earlier turns come, after new ones too', async () => {
    await using guest = await open(120, { height: 900 })
    const { page } = guest
    await turnOf(page, 'filler121').waitFor()
    const toTop = () => page.evaluate(() => scrollTo(0, 0))
    await toTop()
    await turnOf(page, 'filler52').waitFor({ state: 'attached' })
    for (const question of ['One more', 'And another']) await ended(await ask(page, question))
    const come = Promise.withResolvers<void>()
    await page.route('**/transcript*before=*', async (route) => {
      await come.promise
      await route.continue()
    })
    await toTop()
    const first = page.locator('li.turn').filter({ hasText: 'filler52' })
    const top = () => first.evaluate((turn) => Math.round(turn.getBoundingClientRect().top))
    await page.getByRole('button', { name: en['studio.older'], disabled: true }).waitFor()
    const before = await top()
    come.resolve()
    await turnOf(page, 'filler13').waitFor({ state: 'attached' })
    await soon(top, before)
  }, 60_000)

  test('stays where it is when something in a bar takes the focus', async () => {
    await using guest = await open(60, { width: 1440, height: 900 })
    const { page } = guest
    await turnOf(page, 'filler61').waitFor()
    const place = () => page.evaluate(() => Math.round(document.documentElement.scrollTop))
    const left = () =>
      page.evaluate(() => {
        const { scrollHeight, scrollTop, clientHeight } = document.documentElement
        return Math.round(scrollHeight - scrollTop - clientHeight)
      })
    const names = ['nav.fold', 'studio.right', 'studio.new', 'studio.add'] as const
    await settled(page)
    const end = await place()
    for (const spot of [end, end - 400]) {
      await page.evaluate((top) => scrollTo(0, top), spot)
      await settled(page)
      for (const name of names) {
        await page.getByRole('button', { name: en[name], exact: true }).first().focus()
        expect([name, await place()]).toEqual([name, spot])
      }
    }
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight))
    await page.getByRole('button', { name: en['studio.right'], exact: true }).press('Enter')
    await page.getByRole('complementary', { name: en['studio.right'] }).waitFor()
    await soon(left, 0)
  }, 60_000)

  test('shows its earlier turns by itself while there is room for them', async () => {
    await using guest = await open(80, { height: 16_000 })
    const { page } = guest
    await soon(() => page.locator('li.turn').count(), 81)
  }, 60_000)
})
