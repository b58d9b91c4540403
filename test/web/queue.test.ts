import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { en } from '../../web/i18n/en.ts'
import { seriousFindings } from '../support/axe.ts'
import { describeWeb, soon } from './setup.ts'
import { ask, ended, field, turnOf, useStudio } from './studio-page.ts'

const queue = (page: Page) => page.getByRole('region', { name: en['studio.queue'] })
const waiting = (page: Page) => queue(page).locator('li > span').allTextContents()
const act = (page: Page, name: 'edit' | 'now' | 'drop', text: string) =>
  queue(page)
    .getByRole('button', { name: en[`studio.queue.${name}`].replace('{text}', text) })
    .click()
const add = async (page: Page, ...questions: string[]) => {
  for (const question of questions) {
    await field(page).fill(question)
    await page.keyboard.press('Enter')
    await queue(page).getByText(question, { exact: true }).waitFor()
  }
}

describeWeb('questions that wait', () => {
  const at = useStudio()
  const questions = () =>
    at.world
      .asked(at.world.platform)
      .flatMap(({ body }) => (body.stream ? (body.messages.at(-1)?.content ?? []) : []))

  test('go in turn, are written anew, dropped or sent at once, and Stop holds them', async () => {
    await using guest = await at.open()
    const { page } = guest
    const { platform } = at.world
    platform.reply({ pieces: ['One', ' two'], hold: { after: 1, until: new Promise(() => {}) } })
    const first = await ask(page, 'First?')
    await first.locator('.prose', { hasText: 'One' }).waitFor()
    await add(page, 'Second?', 'Thurd?', 'Fourth?')
    await queue(page).getByText(en['studio.queued']).waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await act(page, 'drop', 'Second?')
    await act(page, 'edit', 'Thurd?')
    expect(await field(page).inputValue()).toBe('Thurd?')
    await field(page).fill('Third?')
    await page.getByRole('button', { name: en['studio.queue.add'] }).click()
    await soon(() => waiting(page), ['Fourth?', 'Third?'])

    platform.reply({ text: 'Three.' })
    platform.reply({ text: 'Four.' })
    await act(page, 'now', 'Third?')
    await first.getByText(en['studio.stopped.kept']).waitFor()
    await turnOf(page, 'Fourth?').locator('.prose', { hasText: 'Four.' }).waitFor()
    await queue(page).waitFor({ state: 'detached' })
    expect(questions()).toEqual(['First?', 'Third?', 'Fourth?'])

    platform.reply({ pieces: ['Five', ' six'], hold: { after: 1, until: new Promise(() => {}) } })
    const fifth = await ask(page, 'Fifth?')
    await fifth.locator('.prose', { hasText: 'Five' }).waitFor()
    await add(page, 'Sixth?')
    await page.getByRole('button', { name: en['studio.stop'] }).click()
    await queue(page).getByText(en['studio.queue.held']).waitFor()
    await page.reload()
    await soon(() => waiting(page), ['Sixth?'])
    await queue(page).getByText(en['studio.queue.held']).waitFor()
    platform.reply({ text: 'Six.' })
    await act(page, 'now', 'Sixth?')
    await ended(turnOf(page, 'Sixth?'))
    expect(questions().slice(3)).toEqual(['Fifth?', 'Sixth?'])
    expect(guest.complaints).toEqual([])
  }, 60_000)

  test('without a line to the server they wait for it, and go once', async () => {
    await using guest = await at.open()
    const { page, context } = guest
    await context.setOffline(true)
    await field(page).fill('Are you there?')
    await page.keyboard.press('Enter')
    await queue(page).getByText(en['studio.queue.away']).waitFor()
    await add(page, 'And now?')
    at.world.platform.reply({ text: 'I was away.' })
    at.world.platform.reply({ text: 'Still here.' })
    await context.setOffline(false)
    await turnOf(page, 'And now?').locator('.prose', { hasText: 'Still here.' }).waitFor()
    expect(questions()).toEqual(['Are you there?', 'And now?'])
    expect(await page.locator('.bubble').allTextContents()).toEqual(['Are you there?', 'And now?'])
  }, 60_000)

  test('a question whose answer was lost on the way is not asked twice', async () => {
    await using guest = await at.open()
    const { page } = guest
    at.world.platform.reply({ text: 'Only once.' })
    await page.route(
      '**/console/agent',
      async (route) => {
        await route.fetch()
        await route.abort('connectionreset')
      },
      { times: 1 },
    )
    await field(page).fill('Did it arrive?')
    await page.keyboard.press('Enter')
    await turnOf(page, 'Did it arrive?').locator('.prose', { hasText: 'Only once.' }).waitFor()
    await queue(page).waitFor({ state: 'detached' })
    expect(questions()).toEqual(['Did it arrive?'])
  }, 60_000)
})
