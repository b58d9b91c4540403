import { afterAll, afterEach, beforeAll } from 'bun:test'
import type { Browser, Locator, Page } from 'playwright-core'
import { en } from '../../web/i18n/en.ts'
import { launch, visit } from '../support/chromium.ts'
import { type Failover, startFailover } from '../support/failover.ts'
import { type SignedIn, signIn } from '../support/login.ts'
import { BUILD_MS, buildConsole } from './setup.ts'

/** What the tests of the studio share. */

/** Where the question is written. */
export const field = (page: Page) => page.getByRole('textbox', { name: en['studio.ask'] })

/** The turn in which this was asked: question and reply. */
export const turnOf = (page: Page, question: string) =>
  page.locator('li.turn', { has: page.locator('.bubble', { hasText: question }) })

/** The questions on the page, each with its answer. */
export const shown = (page: Page) =>
  page
    .locator('li.turn')
    .evaluateAll((turns) =>
      turns.map((turn) => [
        turn.querySelector('.bubble')?.textContent,
        turn.querySelector('.prose')?.textContent?.trim(),
      ]),
    )

/** Asks, and resolves with the new turn once it stands on the page; each needs its own words. */
export async function ask(page: Page, question: string): Promise<Locator> {
  const turn = turnOf(page, question)
  if ((await turn.count()) > 0) throw new Error(`asked before: ${question}`)
  await field(page).fill(question)
  await page.keyboard.press('Enter')
  await turn.waitFor()
  return turn
}

/** Resolves once the reply of this turn has ended, however it did, and the next can be asked. */
export async function ended(turn: Locator): Promise<void> {
  await turn.locator('[data-testid=reply][aria-busy=false]').waitFor()
  // The last word of an answer comes before the end of its stream.
  await turn.page().getByRole('button', { name: en['studio.send'] }).waitFor()
}

/** Opens why this answer came out as it did. */
export async function openWhy(
  turn: Locator,
  texts: Pick<typeof en, 'studio.more' | 'studio.why'> = en,
) {
  await turn.getByRole('button', { name: texts['studio.more'] }).click()
  await turn.page().getByRole('menuitem', { name: texts['studio.why'] }).click()
}

/** A studio whose models are scripted, and the person who is signed in there. */
export function useStudio() {
  const held = {} as { world: Failover; browser: Browser; session: SignedIn }
  beforeAll(async () => {
    await buildConsole()
    held.world = await startFailover()
    held.browser = await launch()
    held.session = await signIn(held.world.app)
  }, BUILD_MS)
  afterEach(() => held.world.reset())
  afterAll(async () => {
    await held.browser.close()
    await held.world[Symbol.asyncDispose]()
  })
  return {
    get world() {
      return held.world
    },
    get session() {
      return held.session
    },
    get browser() {
      return held.browser
    },
    async open(url = held.world.app.url) {
      const guest = await visit(held.browser, url, { language: 'en' }, held.session)
      await guest.page.goto('/app')
      await field(guest.page).waitFor()
      return guest
    },
  }
}
