import { expect, test } from 'bun:test'
import { en } from '../../web/i18n/en.ts'
import { describeWeb, soon } from './setup.ts'
import { ask, ended, field, turnOf, useStudio } from './studio-page.ts'

describeWeb('a temporary conversation', () => {
  const at = useStudio()

  test('knows what was said, stands in no list, and is gone after a reload', async () => {
    await using guest = await at.open()
    const { page } = guest
    const { platform } = at.world
    const sentWords = () =>
      at.world
        .asked(platform)
        .at(-1)
        ?.body.messages.slice(1)
        .map(({ content }: { content: unknown }) => content)
    const told: string[] = []
    page.on('request', (request) => void told.push(request.url()))
    await page.getByRole('button', { name: en['temporary.switch'] }).click()
    await page.getByText(en['temporary.text']).waitFor()
    await page.waitForLoadState('networkidle')
    expect(told.filter((url) => url.includes('/temporary-'))).toEqual([])
    expect(await field(page).isVisible()).toBe(true)
    platform.reply({ text: 'Hello Ada' })
    await ended(await ask(page, 'I am Ada'))
    await page.getByText(en['temporary.mark'], { exact: true }).waitFor()

    platform.reply({ text: 'You are Ada' })
    const second = await ask(page, 'Who am I?')
    await ended(second)
    expect(sentWords()).toEqual(['I am Ada', 'Hello Ada', 'Who am I?'])
    platform.reply({ text: 'Still Ada' })
    await second.hover()
    await second.getByRole('button', { name: en['studio.again'] }).click()
    await page.locator('.prose', { hasText: 'Still Ada' }).waitFor()
    expect(sentWords()).toEqual(['I am Ada', 'Hello Ada', 'Who am I?'])
    const rail = page.getByRole('region', { name: en['studio.rail'] })
    expect(await rail.getByRole('link', { name: 'I am Ada' }).count()).toBe(0)

    await field(page).fill('half a word')
    await page.reload()
    await field(page).waitFor()
    await soon(() => turnOf(page, 'I am Ada').count(), 0)
    expect(await field(page).inputValue()).toBe('')
    const kept = await page.evaluate(() =>
      JSON.stringify([{ ...localStorage }, { ...sessionStorage }]),
    )
    expect(kept).not.toMatch(/Ada|half a word/)
    expect(guest.complaints).toEqual([])
  }, 60_000)

  test('is not lost without a word where the server has another build', async () => {
    await using guest = await at.open()
    const { page } = guest
    await page.getByRole('button', { name: en['temporary.switch'] }).click()
    await ended(await ask(page, 'Shall I stay?'))
    await page.waitForLoadState('networkidle')
    await page.route('**/assets/*.js', (route) => route.fulfill({ status: 404 }))
    const [dialog] = await Promise.all([
      page.waitForEvent('dialog'),
      page.keyboard.press('Control+k'),
    ])
    expect(dialog.type()).toBe('beforeunload')
    await dialog.dismiss()
    await page.getByText(en['outdated.text']).waitFor()
    await turnOf(page, 'Shall I stay?').waitFor()
  }, 60_000)
})
