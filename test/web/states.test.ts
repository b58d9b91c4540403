import { expect, test } from 'bun:test'
import { en } from '../../web/i18n/en.ts'
import { seriousFindings } from '../support/axe.ts'
import { visit } from '../support/chromium.ts'
import { describeWeb } from './setup.ts'
import { ask, ended, field, openWhy, useStudio } from './studio-page.ts'

/** A picture of one pixel. */
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const LOOKS = (['light', 'dark'] as const).flatMap((theme) =>
  [1280, 390].map((width) => ({ theme, width })),
)

describeWeb('the states of a talk', () => {
  const at = useStudio()

  test.each(LOOKS)(
    'have no serious finding, $theme at $width',
    async ({ theme, width }) => {
      const { world, session, browser } = at
      const { platform } = world
      const look = { language: 'en', theme, width, height: 844 } as const
      await using guest = await visit(browser, world.app.url, look, session)
      const { page } = guest
      const sound = async () => expect(await seriousFindings(page)).toEqual([])
      await page.goto('/app')
      await field(page).waitFor()
      await page.request.put('/console/settings', { data: { may_ask: true } })

      await page.locator('form.composer input[type=file]').setInputFiles([
        { name: 'dot.png', mimeType: 'image/png', buffer: Buffer.from(PIXEL, 'base64') },
        { name: 'Order.txt', mimeType: 'text/plain', buffer: Buffer.from('Two lamps') },
        { name: 'Empty.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.4') },
      ])
      await page.locator('.attachment[data-tone=bad]').waitFor()
      await sound()
      await page.locator('.attachment[data-tone=bad]').getByRole('button').last().click()

      const rest = Promise.withResolvers<void>()
      const pieces = ['Two', ' lamps.\n\n```js\nlet a\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n']
      platform.reply({ pieces, hold: { after: 1, until: rest.promise } })
      const first = await ask(page, 'What was ordered?')
      await first.locator('.prose', { hasText: 'Two' }).waitFor()
      await sound()
      rest.resolve()
      await ended(first)
      await first
        .getByRole('button', { name: en['studio.image.enlarge'].replace('{number}', '1') })
        .click()
      const picture = page.getByRole('dialog', { name: 'Image 1' })
      await picture.getByRole('img', { name: 'Image 1' }).waitFor()
      await sound()
      await page.keyboard.press('Escape')
      await picture.waitFor({ state: 'detached' })

      platform.reply({ text: 'Three lamps.' })
      await first.getByRole('button', { name: en['studio.again'] }).click()
      await page.getByRole('button', { name: en['studio.version.before'] }).waitFor()
      await page.locator('.prose', { hasText: 'Three lamps.' }).waitFor()
      await sound()

      const args = { question: 'Which one?', options: ['attic', 'cellar'] }
      platform.reply({ toolCalls: [{ name: 'ask_user', arguments: args }] })
      platform.reply({ text: 'It stays dark.' })
      const asked = await ask(page, 'Make it dark')
      const no = page.getByRole('button', { name: en['studio.ask.decline'] })
      await no.waitFor()
      await sound()
      await no.click()
      await ended(asked)
      await openWhy(asked)
      await page.getByText(en['studio.asked'], { exact: true }).waitFor()
      await sound()
      if (width < 1_000) await page.keyboard.press('Escape')

      platform.fault(401)
      const broken = await ask(page, 'Is it broken?')
      const card = broken.getByRole('alert')
      await card.getByText('HTTP 401').waitFor()
      await card.getByText(en['studio.detail']).click()
      await sound()
      const mend = card.getByRole('link', { name: en['studio.mend'] })
      expect(await mend.getAttribute('href')).toContain('/app/')
      platform.reply({ text: 'No more.' })
      await card.getByRole('button', { name: en['studio.retry'] }).click()
      await page.locator('.prose', { hasText: 'No more.' }).waitFor()
      await card.waitFor({ state: 'detached' })
      expect(guest.complaints).toEqual([])
    },
    90_000,
  )
})
