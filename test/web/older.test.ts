import { expect, test } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import { en } from '../../web/i18n/en.ts'
import { visit } from '../support/chromium.ts'
import { type SignedIn, signIn } from '../support/login.ts'
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
  let session: SignedIn | undefined

  /** A page with a talk of so many turns, of which it shows the newest. */
  async function open(count: number, look: { readonly height?: number; readonly width?: number }) {
    session ??= await signIn(at.app)
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
    await turnOf(page, 'filler72').waitFor({ state: 'attached' })
    for (const question of ['One more', 'And another']) await ended(await ask(page, question))
    const come = Promise.withResolvers<void>()
    await page.route('**/transcript*before=*', async (route) => {
      await come.promise
      await route.continue()
    })
    await toTop()
    const first = page.locator('li.turn').filter({ hasText: 'filler72' })
    const top = () => first.evaluate((turn) => Math.round(turn.getBoundingClientRect().top))
    await page.getByRole('button', { name: en['studio.older'], disabled: true }).waitFor()
    const before = await top()
    come.resolve()
    await turnOf(page, 'filler53').waitFor({ state: 'attached' })
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

  const shown = (page: Page) => page.locator('li.turn').count()
  const found = (page: Page) => page.locator('.turn[data-found]')
  const top = (turn: Locator) =>
    turn.evaluate((element) => Math.round(element.getBoundingClientRect().top))
  const scrollDown = async (page: Page) => {
    await page.mouse.move(600, 300)
    await page.mouse.wheel(0, 1_000_000)
  }
  /** Leads to a turn without loading the page anew, as a link in it does. */
  const leadTo = (page: Page, turn: number) =>
    page.evaluate((seq) => {
      const url = new URL(location.href)
      url.searchParams.set('turn', String(seq))
      history.pushState({}, '', url)
      dispatchEvent(new PopStateEvent('popstate'))
    }, turn)

  test('a jump loads the turns around its turn alone, and later ones are scrolled to', async () => {
    await using guest = await open(600, { height: 900 })
    const { page } = guest
    await turnOf(page, 'filler601').waitFor()
    const asked: string[] = []
    page.on('request', (request) => {
      const { pathname, search } = new URL(request.url())
      if (pathname.endsWith('/transcript')) asked.push(search)
    })
    await page.goto(`${page.url()}&turn=7`)
    await soon(() => found(page).filter({ hasText: 'filler7' }).count(), 1)
    await settled(page)
    expect(asked).toEqual(['?before=17&limit=20'])
    const place = await top(found(page))
    expect(place).toBeGreaterThanOrEqual(0)
    expect(place).toBeLessThan(200)
    const come = Promise.withResolvers<void>()
    await page.route('**/transcript*before=37*', async (route) => {
      await come.promise
      await route.continue()
    })
    await scrollDown(page)
    await page.getByRole('button', { name: en['studio.newer'], disabled: true }).waitFor()
    const last = turnOf(page, 'filler16')
    const before = await top(last)
    come.resolve()
    await turnOf(page, 'filler36').waitFor({ state: 'attached' })
    await settled(page)
    expect(await top(last)).toBe(before)
    // What was left behind goes; nothing that is seen moves.
    for (let seq = 56; seq <= 216; seq += 20) {
      await scrollDown(page)
      await turnOf(page, `filler${seq}`).waitFor({ state: 'attached' })
    }
    await soon(() => found(page).count(), 0)
    expect(await shown(page)).toBe(200)
    await page.getByRole('button', { name: en['studio.end'] }).click()
    await soon(() => shown(page), 30)
    await turnOf(page, 'filler601').waitFor()
    expect(page.url()).not.toContain('turn=')
    expect(guest.complaints).toEqual([])
  }, 60_000)

  test('a question asked far from the end goes there; one from elsewhere does not', async () => {
    await using guest = await open(300, { height: 900 })
    const { page, context } = guest
    const url = page.url()
    await page.goto(`${url}&turn=7`)
    await found(page).waitFor()
    await settled(page)
    const place = await top(found(page))
    const other = await context.newPage()
    await other.goto(url)
    const told = page.waitForResponse('**/transcript?before=17*')
    await ended(await ask(other, 'Asked elsewhere'))
    await told
    await settled(page)
    expect(await top(found(page))).toBe(place)
    expect(await turnOf(page, 'Asked elsewhere').count()).toBe(0)
    const turn = await ask(page, 'Asked from far away')
    await ended(turn)
    await soon(async () => page.url().includes('turn='), false)
    await turnOf(page, 'Asked elsewhere').waitFor()
    const bottom = await turn.evaluate((element) => element.getBoundingClientRect().bottom)
    expect(bottom).toBeLessThan(900)
    expect(await found(page).count()).toBe(0)
    await turnOf(other, 'Asked from far away').waitFor()
  }, 60_000)

  test('a jump in an open talk shows its turn, and Back leads to the end again', async () => {
    await using guest = await open(300, { height: 900 })
    const { page } = guest
    await turnOf(page, 'filler301').waitFor()
    await leadTo(page, 150)
    await found(page).filter({ hasText: 'filler150' }).waitFor()
    await leadTo(page, 1)
    await found(page).filter({ hasText: 'The first of many' }).waitFor()
    await soon(async () => (await top(found(page))) >= 0, true)
    await page.goBack()
    await found(page).filter({ hasText: 'filler150' }).waitFor()
    await page.goBack()
    await turnOf(page, 'filler301').waitFor()
    await soon(() => shown(page), 30)
  }, 60_000)

  test('a jump to a turn that is deleted shows the next one, or the newest ones', async () => {
    await using guest = await open(300, { height: 900 })
    const { page } = guest
    const url = page.url()
    const session = new URL(url).searchParams.get('session') ?? ''
    const drop = (where: string) =>
      at.app.db.run({ sql: `DELETE FROM turn WHERE session_id = ? AND ${where}`, args: [session] })
    await drop('seq = 150')
    await page.goto(`${url}&turn=150`)
    const next = turnOf(page, 'filler151')
    await next.waitFor()
    await settled(page)
    expect(await top(next)).toBeLessThan(200)
    expect(await found(page).count()).toBe(0)
    await drop('seq < 200')
    await page.goto(`${url}&turn=9`)
    await turnOf(page, 'filler301').waitFor({ state: 'attached' })
    await page.goto(`${url}&turn=999`)
    await turnOf(page, 'filler301').waitFor()
  }, 60_000)

  test('scrolling up moves what is seen by no more than was scrolled', async () => {
    await using guest = await open(60, { height: 900 })
    const { page } = guest
    await turnOf(page, 'filler61').waitFor()
    await settled(page)
    const moves = await page.evaluate(async () => {
      const moved: number[] = []
      const frame = () => new Promise(requestAnimationFrame)
      for (let step = 0; step < 12; step++) {
        const turns = [...document.querySelectorAll('li.turn')]
        const seen = turns.find((turn) => turn.getBoundingClientRect().top > 200)
        const before = seen?.getBoundingClientRect().top ?? 0
        scrollBy(0, -200)
        for (let frames = 0; frames < 3; frames++) await frame()
        moved.push(Math.round((seen?.getBoundingClientRect().top ?? 0) - before))
      }
      return moved
    })
    expect(moves).toEqual(Array.from({ length: 12 }, () => 200))
  }, 60_000)

  test('the page stays light however far up it is scrolled', async () => {
    await using guest = await open(400, { height: 900 })
    const { page } = guest
    await turnOf(page, 'filler401').waitFor()
    for (let seq = 352; seq >= 172; seq -= 20) {
      await page.evaluate(() => scrollTo(0, 0))
      await turnOf(page, `filler${seq}`).waitFor({ state: 'attached' })
    }
    expect(await shown(page)).toBe(200)
    expect(await turnOf(page, 'filler401').count()).toBe(0)
    await ended(await ask(page, 'And at the end?'))
    // The newest page, and the answer beside it until that page is read again.
    await soon(async () => [30, 31].includes(await shown(page)), true)
  }, 60_000)

  test('shows its earlier turns by itself while there is room for them', async () => {
    await using guest = await open(80, { height: 16_000 })
    const { page } = guest
    await soon(() => page.locator('li.turn').count(), 81)
  }, 60_000)
})
