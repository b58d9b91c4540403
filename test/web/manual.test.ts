import { expect, test } from 'bun:test'
import type { Locator } from 'playwright-core'
import { en } from '../../web/i18n/en.ts'
import { seriousFindings } from '../support/axe.ts'
import { visit } from '../support/chromium.ts'
import { signIn } from '../support/login.ts'
import { guideBlock } from '../support/manual-programs.ts'
import { describeWeb, soon, useConsole } from './setup.ts'

const PHONE = { language: 'zh', theme: 'dark', width: 390, height: 800 } as const

const isInView = (place: Locator) =>
  place.evaluate((element) => {
    const { top } = element.getBoundingClientRect()
    return top >= 0 && top < innerHeight
  })

describeWeb('the manual', () => {
  const at = useConsole()

  test('the manual is public and offers the device programs whole', async () => {
    await using guest = await visit(at.browser, at.app.url, { language: 'en' })
    const { page } = guest
    await page.goto('/docs')
    await page.getByRole('link', { name: 'Devices', exact: true }).first().click()
    await page.getByRole('link', { name: 'Raspberry Pi', exact: true }).click()
    for (const name of ['moonbase-device.ino', 'moonbase-device.py']) {
      const program = page.locator(`[data-file="${name}"]`)
      const shown = await program.locator('pre').textContent()
      const written = await guideBlock(`file=${name}`)
      expect(shown).toBe(written.replaceAll(':3900', `:${new URL(at.app.url).port}`))
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        program.getByRole('button', { name: 'Download', exact: true }).click(),
      ])
      expect(download.suggestedFilename()).toBe(name)
      expect(await Bun.file(await download.path()).text()).toBe(`${shown}\n`)
    }
    expect(guest.complaints).toEqual([])
  }, 60_000)

  test('the device page links to the manual, in the language in use', async () => {
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
  }, 60_000)

  test('the manual search finds words of any page and opens their place', async () => {
    await using guest = await visit(at.browser, at.app.url, PHONE)
    const { page } = guest
    await page.goto('/docs/models')
    await page.getByRole('searchbox').fill('怎么备份数据')
    await page.getByRole('status').getByText('手册中有').waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await page.getByRole('link', { name: '运行与备份: 备份', exact: true }).click()
    await page.waitForURL('**/docs/operate#backup')
    const heading = page.getByRole('heading', { level: 2, name: '备份', exact: true })
    await soon(() => isInView(heading), true)
    await soon(() => page.getByRole('searchbox').inputValue(), '')

    // The list of pages leads out of a search, too.
    await page.getByRole('searchbox').fill('备份')
    await page.getByRole('status').getByText('手册中有').waitFor()
    await page.locator('summary').first().click()
    await page.getByRole('link', { name: '工具', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: '工具', exact: true }).waitFor()
    await soon(() => page.getByRole('searchbox').inputValue(), '')
    expect(guest.complaints).toEqual([])
  }, 60_000)

  test.each([
    ['en', 'Connect a model'],
    ['zh', '接入模型'],
  ] as const)(
    'the %s manual begins with a model, at the address of its reader',
    async (language, first) => {
      await using guest = await visit(at.browser, at.app.url, { language })
      const { page } = guest
      await page.goto('/docs')
      const main = page.getByRole('main')
      await main.getByText(at.app.url).first().waitFor()
      expect(await main.getByRole('heading', { level: 2 }).first().textContent()).toBe(first)
      const text = (await main.textContent()) ?? ''
      expect(text).toContain(`curl -N ${at.app.url}/v1/agent`)
      expect(text.match(/npm start|3900/)).toBeNull()
      expect(guest.complaints).toEqual([])
    },
    60_000,
  )

  test('the manual names this server in commands, and opens at a linked part', async () => {
    await using guest = await visit(at.browser, at.app.url, { language: 'en' })
    const { page } = guest
    await page.goto('/docs/kb')
    const command = page.locator('pre', { hasText: `curl ${at.app.url}/v1/kb/docs` }).first()
    await command.waitFor()
    await page.goto('/docs/operate#disk')
    const heading = page.getByRole('heading', { level: 2, name: 'The disk' })
    await page.waitForFunction(() => scrollY > 0)
    await soon(() => isInView(heading), true)
    await page.getByRole('link', { name: 'Security' }).last().click()
    await page.getByRole('heading', { level: 1, name: 'Security' }).waitFor()
    await page.getByRole('main').getByRole('link', { name: 'Operate', exact: true }).click()
    await page.waitForURL('**/docs/operate#https')
    expect(guest.complaints).toEqual([])
  }, 60_000)

  test('a page of the manual that cannot be loaded says so in words, with a button', async () => {
    await using guest = await visit(at.browser, at.app.url, { language: 'en' })
    const { page, context } = guest
    const loaded = new Set<string>()
    page.on('request', (request) => loaded.add(request.url()))
    await page.goto('/login')
    await page.getByRole('textbox').waitFor()
    const known = new Set(loaded)
    // A program of a later version does not have the parts of the page that is open.
    await context.route(/\/assets\/.*\.js$/, (route) =>
      known.has(route.request().url()) ? route.continue() : route.abort(),
    )
    await page.goto('/docs')
    await page.getByRole('heading', { name: en['error.broken'] }).waitFor()
    await page.getByRole('button', { name: en['action.reload'] }).waitFor()
  }, 60_000)
})
