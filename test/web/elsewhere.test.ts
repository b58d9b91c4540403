import { expect, test } from 'bun:test'
import { en } from '../../web/i18n/en.ts'
import { seriousFindings } from '../support/axe.ts'
import { describeWeb } from './setup.ts'
import { ask, ended, turnOf, useStudio } from './studio-page.ts'

describeWeb('an answer that ends while another talk is shown', () => {
  const at = useStudio()

  test('is told with a way there, and marked until it is looked at', async () => {
    const { platform } = at.world
    await using guest = await at.open()
    const { page } = guest
    const rest = Promise.withResolvers<void>()
    platform.reply({ pieces: ['It', ' goes.'], hold: { after: 1, until: rest.promise } })
    await ask(page, 'Where does the river go?')
    await page.locator('.prose', { hasText: 'It' }).waitFor()
    await page.getByRole('button', { name: en['studio.new'] }).first().click()
    await page.locator('.bubble').waitFor({ state: 'detached' })
    rest.resolve()
    const told = page.getByRole('region', { name: en['state.messages'] })
    await told.getByText('“Where does the river go?” is answered.').waitFor()
    const mark = page.getByRole('img', { name: en['studio.unseen'] })
    await mark.waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await told.getByRole('button', { name: en['studio.ended.show'] }).press('Enter')
    await turnOf(page, 'Where does the river go?').getByText('It goes.').waitFor()
    await mark.waitFor({ state: 'detached' })

    platform.reply({ text: 'To the sea.' })
    await ended(await ask(page, 'And then?'))
    expect(await told.getByText(/is answered/).count()).toBe(0)
    expect(await mark.count()).toBe(0)
    expect(guest.complaints).toEqual([])
  }, 60_000)
})
