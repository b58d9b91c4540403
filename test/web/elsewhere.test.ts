import { expect, test } from 'bun:test'
import { en } from '../../web/i18n/en.ts'
import { seriousFindings } from '../support/axe.ts'
import { goTo } from './go-to.ts'
import { describeWeb, soon } from './setup.ts'
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
    // The palette lists talks, too, and without pages.
    await page.keyboard.press('Control+k')
    await page.getByRole('option', { name: 'Where does the river go?' }).waitFor()
    await page.keyboard.press('Escape')
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

  test('is told by the browser, once that is allowed, while nobody looks at the page', async () => {
    await using guest = await at.open()
    const { page } = guest
    await page.addInitScript(() => {
      const told: string[] = []
      class Told {
        static permission = 'default'
        static async requestPermission() {
          Told.permission = 'granted'
        }
        constructor(_title: string, { body = '' }: NotificationOptions) {
          told.push(body)
        }
      }
      Object.assign(globalThis, { Notification: Told, told })
    })
    const told = () => page.evaluate(() => (globalThis as unknown as { told: string[] }).told)
    await page.goto('/app/account')
    await page.getByRole('button', { name: en['notices.allow'] }).click()
    await page.getByText(en['notices.on'], { exact: true }).waitFor()
    await goTo(page, 'nav.chat')
    await ended(await ask(page, 'How high is the hill?'))
    await page.evaluate(() => Object.defineProperty(document, 'hidden', { get: () => true }))
    await ended(await ask(page, 'And how steep?'))
    await soon(told, ['“And how steep?” is answered.'])
    expect(guest.complaints).toEqual([])
  }, 60_000)
})
