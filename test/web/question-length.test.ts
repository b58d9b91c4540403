import { expect, test } from 'bun:test'
import { AGENT_TEXT_CHARS_MAX } from '../../src/core/limits/contract.ts'
import { en } from '../../web/i18n/en.ts'
import { describeWeb, soon } from './setup.ts'
import { ended, field, turnOf, useStudio } from './studio-page.ts'

const QUESTION = 'How long may it be?'
/** The limit counts characters and not halves of them, without the spaces around. */
const longest = `${QUESTION}${'🌙'.repeat(AGENT_TEXT_CHARS_MAX - QUESTION.length)}`
const OVER = `${longest}! `
const shown = (count: number) => count.toLocaleString('en-GB')
const TOO_LONG = `${shown(AGENT_TEXT_CHARS_MAX + 1)} / ${shown(AGENT_TEXT_CHARS_MAX)}`

describeWeb('a question that is too long', () => {
  const at = useStudio()

  test('is not sent, is counted where it is written, and goes once it is shorter', async () => {
    await using guest = await at.open()
    const { page } = guest
    const send = page.getByRole('button', { name: en['studio.send'], exact: true })
    await field(page).fill(OVER)
    await page.getByText(TOO_LONG).waitFor()
    expect(await send.isDisabled()).toBe(true)
    const count = shown(AGENT_TEXT_CHARS_MAX + 1)
    const max = shown(AGENT_TEXT_CHARS_MAX)
    const said = en['studio.long'].replace('{count}', count).replace('{max}', max)
    await page.getByRole('status').getByText(said).waitFor()
    await page.keyboard.press('Enter')
    await soon(() => field(page).inputValue(), OVER)
    expect(await page.locator('li.turn').count()).toBe(0)
    await field(page).fill(`${longest} `)
    await page.getByText(TOO_LONG).waitFor({ state: 'detached' })
    await page
      .getByText(`${shown(AGENT_TEXT_CHARS_MAX)} / ${shown(AGENT_TEXT_CHARS_MAX)}`)
      .waitFor()
    await send.click()
    const turn = page.locator('li.turn').first()
    await ended(turn)

    await turn.getByRole('button', { name: en['studio.edit'] }).click()
    const edited = turn.getByRole('textbox')
    const ask = turn.getByRole('button', { name: en['studio.edit.send'] })
    await edited.fill(OVER)
    await turn.getByText(TOO_LONG).waitFor()
    expect(await ask.isDisabled()).toBe(true)
    await edited.fill('And shorter?')
    await ask.click()
    await ended(turnOf(page, 'And shorter?'))
    expect(guest.complaints).toEqual([])
  }, 120_000)
})
