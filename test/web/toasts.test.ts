import { test } from 'bun:test'
import type { Page } from 'playwright-core'
import { en } from '../../web/i18n/en.ts'
import { goTo } from './go-to.ts'
import { describeWeb, soon } from './setup.ts'
import { field, useStudio } from './studio-page.ts'

/** What a click in the middle of *Send* reaches, while the message is shown. */
const sendIs = (page: Page) =>
  page.getByRole('button', { name: en['studio.send'], exact: true }).evaluate((button) => {
    const { left, top, width, height } = button.getBoundingClientRect()
    const hit = document.elementFromPoint(left + width / 2, top + height / 2)
    if (!document.querySelector('.toast')) return 'without a message'
    return button.contains(hit) ? 'free' : hit?.closest('.toasts') ? 'covered' : 'out of sight'
  })

describeWeb('short messages', () => {
  const studio = useStudio()

  test.each([
    ['a phone', { width: 390, height: 700 }],
    ['a phone that lies on its side', { width: 740, height: 480 }],
    ['a narrow window', { width: 640, height: 800 }],
    ['a wide window', { width: 1280, height: 720 }],
  ])(
    'a message lets Send be reached, also when the question grows: %s',
    async (_name, size) => {
      await using guest = await studio.open()
      const { page } = guest
      await page.setViewportSize(size)
      const tiff = { name: 'a.tiff', mimeType: 'image/tiff', buffer: Buffer.from('II*') }
      await page.locator('form.composer input[type=file]').setInputFiles(Array(9).fill(tiff))
      await page.locator('.toast').waitFor()
      await soon(() => sendIs(page), 'free')
      for (const lines of [1, 3, 6, 1]) {
        await field(page).fill('line\n'.repeat(lines))
        await soon(() => sendIs(page), 'free')
      }
      await page.setViewportSize({ width: size.height, height: size.width })
      await soon(() => sendIs(page), 'free')
    },
    120_000,
  )

  test.each([
    ['a phone', { width: 390, height: 700 }],
    ['a window', { width: 1000, height: 720 }],
    ['a wide window', { width: 1280, height: 720 }],
  ])('a message of the page before lets Send be reached: %s', async (_name, size) => {
    await using guest = await studio.open()
    const { page } = guest
    await page.setViewportSize(size)
    await page.goto('/app/settings')
    // Refused, because such a message stays longer.
    await page.route('**/console/settings', (route) =>
      route.request().method() === 'PUT' ? route.fulfill({ status: 400 }) : route.continue(),
    )
    await page.getByRole('textbox', { name: en['settings.name'] }).fill('Moon')
    await page.getByRole('button', { name: en['action.save'] }).first().click()
    await page.locator('.toast').waitFor()
    // Leaving the form is confirmed.
    if (size.width < 840) await page.getByRole('button', { name: en['nav.menu'] }).click()
    await goTo(page, 'nav.chat')
    await page.getByRole('button', { name: en['unsaved.leave'] }).click()
    await field(page).waitFor()
    await soon(() => sendIs(page), 'free')
  })
})
