import { expect, test } from 'bun:test'
import { en } from '../../web/i18n/en.ts'
import { describeWeb, soon } from './setup.ts'
import { ask, ended, turnOf, useStudio } from './studio-page.ts'

/** Twelve lines of the widest bubble, and more: each letter is as wide as two others. */
const LONG = '长'.repeat(700)

describeWeb('what is seen of a turn', () => {
  const at = useStudio()

  test('one line says that it thinks, and a long Chinese question shows twelve lines', async () => {
    await using guest = await at.open()
    const { page } = guest
    const rest = Promise.withResolvers<void>()
    const hold = { after: 1, until: rest.promise }
    at.world.platform.reply({ reasoning: 'Seven is odd.', text: 'Odd.', hold })
    const turn = await ask(page, LONG)
    const thinking = turn.getByText(en['studio.waiting'])
    await thinking.waitFor()
    await turn.locator('summary', { hasText: en['studio.waiting'] }).waitFor()
    expect(await thinking.count()).toBe(1)
    rest.resolve()
    await ended(turn)
    // With its seconds, where it took some.
    await turn.locator('summary', { hasText: /^Thought/ }).waitFor()
    const height = () => turn.locator('.bubble').evaluate((bubble) => bubble.clientHeight)
    const folded = await height()
    await turn.getByRole('button', { name: en['studio.question.unfold'] }).click()
    expect(await height()).toBeGreaterThan(folded)
  }, 60_000)

  test('a talk that is on its way says so, and one that cannot be read, why', async () => {
    await using guest = await at.open()
    const { page } = guest
    at.world.platform.reply({ text: 'At nine.' })
    await ended(await ask(page, 'When do you open?'))
    await page.waitForURL(/session=/)
    const held = Promise.withResolvers<void>()
    const failing = { status: 500, contentType: 'text/plain', body: 'No luck today' }
    await page.route('**/console/sessions/*/transcript*', async (route) => {
      await held.promise
      await route.fulfill(failing)
    })
    await page.reload()
    const main = page.getByRole('main')
    await main.getByRole('status', { name: en['state.loading'] }).waitFor()
    held.resolve()
    await main.getByRole('alert').getByText('No luck today').waitFor()
    await page.unroute('**/console/sessions/*/transcript*')
    await main.getByRole('button', { name: en['action.retry'] }).click()
    await turnOf(page, 'When do you open?').getByText('At nine.').waitFor()
    expect(await main.getByRole('alert').count()).toBe(0)
  }, 60_000)

  test('a call of a tool shows its input once, also where words come after it', async () => {
    await using guest = await at.open()
    const { page } = guest
    const { platform } = at.world
    platform.reply({ toolCalls: [{ name: 'calculator', arguments: { expression: '6*7' } }] })
    platform.reply({ text: 'Forty-two.' })
    const turn = await ask(page, 'Six times seven?')
    await ended(turn)
    await page.waitForURL(/session=/)
    const held = Promise.withResolvers<void>()
    await page.route('**/assets/*.js', async (route) => {
      const response = await route.fetch()
      if ((await response.text()).includes(en['palette.hint'])) await held.promise
      await route.fulfill({ response })
    })
    await page.reload()
    const shown = turn.locator('.tool-run pre')
    await shown.first().waitFor({ state: 'attached' })
    held.resolve()
    await turn.getByText(en['studio.tool.result'], { exact: true }).waitFor({ state: 'attached' })
    await soon(() => shown.count(), 2)
  }, 60_000)
})
