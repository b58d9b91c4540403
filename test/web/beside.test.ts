import { expect, test } from 'bun:test'
import { en } from '../../web/i18n/en.ts'
import { caller } from '../support/api.ts'
import { seriousFindings } from '../support/axe.ts'
import { describeWeb, soon } from './setup.ts'
import { ask, ended, field, useStudio } from './studio-page.ts'

describeWeb('two talks side by side', () => {
  const at = useStudio()

  test('both go on from the talk, and the one that is kept is the only one', async () => {
    const { world, session } = at
    const { platform } = world
    const call = caller(`${world.app.url}/console`, session.headers)
    await call('POST', '/apps', { name: 'Terse', system_prompt: 'One word' })
    await using guest = await at.open()
    const { page } = guest
    platform.reply({ text: 'A number.' })
    await ended(await ask(page, 'What is seven?'))
    await page.getByRole('button', { name: en['studio.app.none'] }).click()
    await page.getByRole('menuitem', { name: en['beside.begin'] }).click()
    await page.getByText(en['beside.text']).waitFor()
    await page.getByRole('button', { name: en['studio.app.none'] }).nth(1).click()
    await page.getByRole('menuitemradio', { name: 'Terse' }).click()
    await page.getByRole('button', { name: /Terse/ }).waitFor()

    const side = (number: number) =>
      page.getByRole('region', { name: en['beside.side'].replace('{number}', String(number)) })
    const rest = Promise.withResolvers<void>()
    platform.reply({ pieces: ['It is', ' odd.'], hold: { after: 1, until: rest.promise } })
    platform.reply({ pieces: ['It is', ' odd.'], hold: { after: 1, until: rest.promise } })
    const refused = { status: 403, contentType: 'text/plain', body: 'Not today' }
    await page.route('**/branch', (route) => route.fulfill(refused), { times: 1 })
    await field(page).fill('And is it odd?')
    await page.keyboard.press('Enter')
    await page.getByText('Not today').first().waitFor()
    await soon(() => field(page).inputValue(), 'And is it odd?')
    await page.keyboard.press('Enter')
    for (const number of [1, 2]) await side(number).getByText('It is').waitFor()
    await field(page).fill('Is eight?')
    await page.keyboard.press('Enter')
    await page.getByText(en['studio.queued']).waitFor()
    platform.reply({ text: 'No.' })
    platform.reply({ text: 'No.' })
    rest.resolve()
    for (const number of [1, 2]) await side(number).locator('.prose', { hasText: 'No.' }).waitFor()
    expect(await side(2).locator('.bubble').allTextContents()).toEqual([
      ...['What is seven?', 'And is it odd?', 'Is eight?'],
    ])
    const sent = world.asked(platform).map(({ body }) => JSON.stringify(body))
    expect(sent.filter((body) => body.includes('And is it odd?'))).toHaveLength(4)
    expect(sent.filter((body) => body.includes('One word'))).toHaveLength(2)

    await page.reload()
    await side(2).locator('.prose', { hasText: 'No.' }).waitFor()
    expect(await seriousFindings(page)).toEqual([])
    const gone = new URL(page.url()).searchParams.get('session')
    await page.getByRole('button', { name: en['beside.keep'] }).nth(1).click()
    await page.getByRole('button', { name: /Terse/ }).waitFor()
    await side(1).waitFor({ state: 'detached' })
    const asked = ['What is seven?', 'And is it odd?', 'Is eight?']
    await soon(() => page.locator('.bubble').allTextContents(), asked)
    await soon(() => page.getByRole('button', { name: en['studio.version.before'] }).count(), 0)
    const kept = new URL(page.url()).searchParams.get('session')
    const versions = async (id: string | null) =>
      (await call('GET', `/conversations/${id}/versions`)).text
    await soon(async () => (await versions(kept)).includes(String(gone)), false)
    const rail = page.getByRole('region', { name: en['studio.rail'] })
    await soon(() => rail.locator('.rail-link').count(), 1)
    expect(guest.complaints).toEqual([])
  }, 60_000)

  test('an empty talk is compared from its first question, on a phone one at a time', async () => {
    await using guest = await at.open()
    const { page } = guest
    await page.setViewportSize({ width: 390, height: 844 })
    await page.getByRole('button', { name: en['studio.app.none'] }).click()
    await page.getByRole('menuitem', { name: en['beside.begin'] }).click()
    at.world.platform.reply({ text: 'Hi.' })
    await field(page).fill('Hello?')
    await page.keyboard.press('Enter')
    const bubbles = page.locator('.bubble:visible')
    await bubbles.waitFor()
    await soon(() => bubbles.count(), 1)
    const { scrollWidth, clientWidth } = await page.evaluate(() => {
      const { scrollWidth: inside, clientWidth: shown } = document.documentElement
      return { scrollWidth: inside, clientWidth: shown }
    })
    expect(scrollWidth).toBeLessThanOrEqual(clientWidth)
    const names = await page.locator('.beside-switch > button').allTextContents()
    expect(new Set(names).size).toBe(2)
    expect(await seriousFindings(page)).toEqual([])
    await page.getByRole('button', { name: en['beside.end'] }).click()
    await page.getByRole('button', { name: en['studio.new'] }).last().waitFor()
    await soon(() => page.locator('.bubble').count(), 1)
  }, 60_000)
})
