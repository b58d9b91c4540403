import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { en } from '../../web/i18n/en.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { seriousFindings } from '../support/axe.ts'
import { launch } from '../support/chromium.ts'
import { startTeam } from '../support/team.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { BUILD_MS, buildConsole, describeWeb, soon } from './setup.ts'

describeWeb('the page of an assistant', () => {
  let app: TestApp
  let upstream: Upstream
  let browser: Browser
  beforeAll(async () => {
    await buildConsole()
    upstream = await startUpstream()
    app = await startApp({ env: { MB_LLM_BASE_URL: upstream.baseUrl, MB_LLM_MODEL: 'fake' } })
    browser = await launch()
  }, BUILD_MS)
  afterAll(async () => {
    await browser?.close()
    await app?.[Symbol.asyncDispose]()
    await upstream?.stop()
  })

  test('a person gives it a face, restores it, edits a share and rates an answer', async () => {
    const owner = await startTeam(app)
    const made = await owner.call<{ id: string }>('POST', '/console/apps', { name: 'Shop' })
    const at = `/console/apps/${made.json().id}`
    await owner.call('POST', `${at}/shares`, { name: 'Front' })
    const context = await browser.newContext({ locale: 'en', baseURL: app.url })
    const [name = '', value = ''] = (owner.headers.cookie ?? '').split('=')
    await context.addCookies([{ name, value, url: app.url }])
    const page = await context.newPage()
    const press = (label: string) => page.getByRole('button', { name: label, exact: true }).click()
    const pressOf = (label: string, row: string) => press(`${label}: ${row}`)
    const read = async () => (await owner.call('GET', at)).json()
    await page.goto(`/app/apps/${made.json().id}`)
    await page.getByLabel(en['apps.icon'], { exact: true }).fill('🛒')
    await page
      .getByLabel(en['apps.starters'], { exact: true })
      .fill('When do you open?\n\nWhere are you?')
    await press(en['action.save'])
    await soon(async () => (await read()).icon, '🛒')
    expect((await read()).starters).toEqual(['When do you open?', 'Where are you?'])
    // The row says when it was saved.
    const version = page.getByRole('button', { name: `${en['apps.versions.compare']}: ` })
    await version.click()
    await page.getByRole('dialog').getByText(en['apps.starters'], { exact: true }).waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: `${en['apps.versions.restore']}: ` }).click()
    const asked = page.getByRole('alertdialog')
    await asked.getByText(en['apps.versions.restore.loss']).waitFor()
    await asked.getByRole('button', { name: en['apps.versions.restore'] }).click()
    await soon(async () => (await read()).icon, null)
    await soon(() => page.getByLabel(en['apps.icon'], { exact: true }).inputValue(), '')

    // By the keyboard: the arrows go from tab to tab.
    await page.getByRole('tab', { name: en['apps.tab.build'] }).focus()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowRight')
    await pressOf(en['app.shares.edit'], 'Front')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel(en['app.shares.look.color.pick']).fill('#aa3300')
    const typed = dialog.getByLabel(en['app.shares.look.color'], { exact: true })
    expect(await typed.inputValue()).toBe('#aa3300')
    await dialog.getByRole('button', { name: en['action.save'] }).click()
    await soon(async () => {
      const { shares } = (
        await owner.call<{ shares: { look: { color: string } }[] }>('GET', `${at}/shares`)
      ).json()
      return shares[0]?.look.color
    }, '#aa3300')
    expect(await seriousFindings(page)).toEqual([])

    upstream.reply({ text: 'At nine' })
    await page.goto(`/app?app=${made.json().id}`)
    await page.getByRole('textbox').fill('When do you open?')
    await page.keyboard.press('Enter')
    const bad = page.getByRole('button', { name: en['feedback.bad'] })
    await bad.focus()
    await page.keyboard.press('Enter')
    await soon(() => bad.getAttribute('aria-pressed'), 'true')
    await page.goto(`/app/apps/${made.json().id}`)
    await page.getByRole('tab', { name: en['apps.tab.activity'] }).click()
    await page.getByText('0 up, 1 down').waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await context.close()
  }, 60_000)
})
