import { expect, test } from 'bun:test'
import type { Locator } from 'playwright-core'
import { en } from '../../web/i18n/en.ts'
import { caller } from '../support/api.ts'
import { seriousFindings } from '../support/axe.ts'
import { describeWeb } from './setup.ts'
import { ask, ended, field, useStudio } from './studio-page.ts'

describeWeb('an assistant by its name', () => {
  const at = useStudio()

  test('is chosen by keys in the question field, and answers from there on', async () => {
    const { world, session } = at
    const call = caller(`${world.app.url}/console`, session.headers)
    await call('POST', '/apps', { name: 'Shop', system_prompt: 'You sell shoes' })
    await call('POST', '/apps', { name: 'Ship', system_prompt: 'You sail' })
    await using guest = await at.open()
    const { page } = guest
    const list = page.getByRole('listbox', { name: en['nav.assistants'] })
    await field(page).fill('@sh')
    await list.getByRole('option', { name: '@Ship' }).waitFor()
    await field(page).fill('@sho')
    await list.getByRole('option', { name: '@Ship' }).waitFor({ state: 'detached' })
    const shop = list.getByRole('option', { name: '@Shop', selected: true })
    await shop.waitFor()
    const fontOf = (one: Locator) => one.evaluate((element) => getComputedStyle(element).fontFamily)
    expect(await fontOf(shop.getByText('@Shop'))).toBe(await fontOf(field(page)))
    expect(await field(page).getAttribute('aria-activedescendant')).toBe(
      await shop.getAttribute('id'),
    )
    await page.getByText(en['studio.prompts.count'].replace('{count}', '1')).waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await page.keyboard.press('Escape')
    await list.waitFor({ state: 'detached' })
    await field(page).fill('@sh')
    await page.keyboard.press('Shift+Tab')
    expect(await field(page).inputValue()).toBe('@sh')
    await field(page).fill('@sho')
    await shop.waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: /Shop/ }).waitFor()
    expect(await field(page).inputValue()).toBe('')
    world.platform.reply({ text: 'Size?' })
    await ended(await ask(page, 'Boots, please'))
    expect(JSON.stringify(world.asked(world.platform).at(-1)?.body)).toContain('You sell shoes')

    await field(page).fill('@nobody there')
    await list.waitFor({ state: 'detached' })
    world.platform.reply({ text: 'Nobody' })
    await page.keyboard.press('Enter')
    await page.locator('.bubble', { hasText: '@nobody there' }).waitFor()
    expect(guest.complaints).toEqual([])
  }, 60_000)

  test('an act is chosen by its name after a slash', async () => {
    await using guest = await at.open()
    const { page } = guest
    at.world.platform.reply({ text: 'Yes' })
    await ended(await ask(page, 'Is this the old one?'))
    await field(page).fill('/ne')
    await page.getByRole('option', { name: '/new', selected: true }).waitFor()
    await page.keyboard.press('Enter')
    await page.locator('.bubble').waitFor({ state: 'detached' })
    expect(await field(page).inputValue()).toBe('')
    await field(page).fill('/temp')
    await page.getByRole('option', { name: /^\/temp/, selected: true }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByText(en['temporary.text']).waitFor()
    // What is not stored cannot be branched.
    await field(page).fill('/')
    await page.getByRole('option', { name: '/new' }).waitFor()
    expect(await page.getByRole('option', { name: '/compare' }).count()).toBe(0)
  }, 60_000)
})
