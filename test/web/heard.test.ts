import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { en } from '../../web/i18n/en.ts'
import { describeWeb } from './setup.ts'
import { ask, ended, useStudio } from './studio-page.ts'

/** Notes all that the live regions of the page come to say, in their order. */
async function listen(page: Page): Promise<() => Promise<readonly string[]>> {
  await page.addInitScript(() => {
    const heard: string[] = []
    Object.assign(window, { heard })
    const said = new Map<Element, string>()
    const look = () => {
      const regions = document.querySelectorAll('[role=status], [role=alert], [aria-live=polite]')
      for (const region of regions) {
        const text = region.textContent?.trim() ?? ''
        if (text !== '' && said.get(region) !== text) heard.push(text)
        said.set(region, text)
      }
    }
    new MutationObserver(look).observe(document, {
      ...{ childList: true, subtree: true, characterData: true },
    })
  })
  await page.reload()
  return () => page.evaluate(() => (window as unknown as { heard: string[] }).heard)
}

describeWeb('a screen reader', () => {
  const at = useStudio()

  test('hears an answer once, an approval, a stop and an error, each in words', async () => {
    await using guest = await at.open()
    const { page } = guest
    const { platform } = at.world
    await page.request.put('/console/settings', { data: { may_ask: true } })
    const heard = await listen(page)
    const times = async (text: string) =>
      (await heard()).filter((said) => said.includes(text)).length

    platform.reply({ pieces: ['The attic', ' has **two** lamps.'] })
    await ended(await ask(page, 'How many lamps?'))
    expect(await times(en['studio.answering'])).toBe(1)
    expect(await times('The attic has two lamps.')).toBe(1)

    platform.reply({ toolCalls: [{ name: 'ask_user', arguments: { question: 'Which one?' } }] })
    platform.reply({ text: 'It stays dark.' })
    const asked = await ask(page, 'Make it dark')
    const no = page.getByRole('button', { name: en['studio.ask.decline'] })
    await no.waitFor()
    expect(await times(en['studio.ask.model'])).toBe(1)
    await no.click()
    await ended(asked)
    expect(await times('It stays dark.')).toBe(1)

    const rest = Promise.withResolvers<void>()
    platform.reply({ pieces: ['One,', ' two'], hold: { after: 1, until: rest.promise } })
    const stopped = await ask(page, 'Count for ever')
    await stopped.locator('.prose', { hasText: 'One,' }).waitFor()
    await page.getByRole('button', { name: en['studio.stop'] }).click()
    await stopped.getByText(en['studio.stopped.kept']).waitFor()
    rest.resolve()
    expect(await times(en['studio.stopped.kept'])).toBe(1)
    expect(await times('not saved')).toBe(0)

    platform.fault(401)
    const broken = await ask(page, 'Is it broken?')
    // The key is that of the model, and not how the person has signed in.
    const reason = `${en['logs.class.unauthorized']} · HTTP 401`
    await broken.getByRole('alert').getByText(reason, { exact: true }).waitFor()
    expect(await times('HTTP 401')).toBe(1)
    expect(guest.complaints).toEqual([])
  }, 60_000)
})
