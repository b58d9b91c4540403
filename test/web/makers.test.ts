import { expect, test } from 'bun:test'
import { visit } from '../support/chromium.ts'
import { signIn } from '../support/login.ts'
import { guideBlock } from '../support/makers.ts'
import { describeWeb, useConsole } from './setup.ts'

describeWeb('the guide for makers', () => {
  const at = useConsole()

  test('is open to everybody and hands out its programs whole', async () => {
    await using guest = await visit(at.browser, at.app.url, { language: 'en' })
    const { page } = guest
    await page.goto('/docs')
    await page.getByRole('link', { name: 'Build a device' }).click()
    await page.getByRole('link', { name: 'Raspberry Pi', exact: true }).click()
    for (const name of ['moonbase-device.ino', 'moonbase-device.py']) {
      const program = page.locator(`[data-file="${name}"]`)
      const shown = await program.locator('pre').textContent()
      expect(shown).toBe(await guideBlock(`file=${name}`))
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        program.getByRole('button', { name: 'Download' }).click(),
      ])
      expect(download.suggestedFilename()).toBe(name)
      expect(await Bun.file(await download.path()).text()).toBe(`${shown}\n`)
    }
    expect(guest.complaints).toEqual([])
  }, 30_000)

  test('is one step from the devices of the console, in the language in use', async () => {
    const session = await signIn(at.app)
    await using guest = await visit(at.browser, at.app.url, { language: 'zh' }, session)
    const { page } = guest
    await page.goto('/app/devices')
    await page.getByRole('link', { name: '自制设备' }).click()
    await page.getByRole('heading', { level: 2, name: '服务器拒绝时' }).waitFor()
    await page.getByRole('button', { name: 'English' }).click()
    await page.getByRole('heading', { level: 2, name: 'When the server says no' }).waitFor()
    await page.getByRole('link', { name: 'Pair a device' }).click()
    await page.waitForURL('**/app/devices')
    expect(guest.complaints).toEqual([])
  }, 30_000)
})
