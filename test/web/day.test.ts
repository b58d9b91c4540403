import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { en } from '../../web/i18n/en.ts'
import { startApp } from '../support/app.ts'
import { launch, visit } from '../support/chromium.ts'
import { signIn } from '../support/login.ts'
import { pdfFile } from '../support/pdf-file.ts'
import { startUpstream } from '../support/upstream.ts'
import { buildConsole, describeWeb, soon } from './setup.ts'
import { ask, ended, field, turnOf } from './studio-page.ts'

/** Until a busy machine has started the process that reads files, and read one page. */
const READ_MS = 90_000

const reply = (page: Page, question: string, text: string) =>
  turnOf(page, question).locator('.prose', { hasText: text }).waitFor()

describeWeb('a day of talking', () => {
  test('from the desk to the phone and back, in few clicks', async () => {
    await buildConsole()
    const platform = await startUpstream()
    await using app = await startApp({ upstream: platform.baseUrl })
    await using browser = await launch()
    const session = await signIn(app)
    await using desk = await visit(browser, app.url, { language: 'en' }, session)
    const { page } = desk
    await page.goto('/app')
    await field(page).waitFor()
    const chats = () => platform.requests.filter(({ path }) => path === '/chat/completions')
    let clicks = 0
    const click = async (
      name: string | RegExp,
      role: 'button' | 'menuitem' | 'link' = 'button',
    ) => {
      clicks += 1
      await page.getByRole(role, { name }).first().click()
    }
    const rest = Promise.withResolvers<void>()
    platform.reply({ pieces: ['Snails', ' and slugs.'], hold: { after: 1, until: rest.promise } })
    await ask(page, 'What eats my lettuce?')
    await reply(page, 'What eats my lettuce?', 'Snails')
    await page.reload()
    await reply(page, 'What eats my lettuce?', 'Snails')
    const address = page.url()

    // The desk is locked: its page is frozen while the phone asks on.
    await page.goto('about:blank')
    rest.resolve()
    await using phone = await visit(
      browser,
      app.url,
      { language: 'en', width: 390, height: 844 },
      session,
    )
    await phone.page.goto(address)
    await reply(phone.page, 'What eats my lettuce?', 'Snails and slugs.')
    platform.reply({ text: 'Beer traps.' })
    await ended(await ask(phone.page, 'What helps?'))
    await page.goto(address)
    await reply(page, 'What helps?', 'Beer traps.')

    const buffer = Buffer.from(pdfFile([{ lines: ['Order 4711: forty snail fences'] }]))
    clicks += 1
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'order.pdf', mimeType: 'application/pdf', buffer })
    const keep = en['studio.attached.keep'].replace('{name}', 'order.pdf')
    await page.getByRole('button', { name: keep }).waitFor({ timeout: READ_MS })
    platform.reply({ text: 'Forty fences.' })
    await ended(await ask(page, 'What did I ordr?'))
    expect(JSON.stringify(chats().map(({ body }) => body))).toContain('forty snail fences')

    const third = turnOf(page, 'What did I ordr?')
    await third.hover()
    clicks += 1
    await third.getByRole('button', { name: en['studio.edit'] }).click()
    platform.reply({ text: 'Forty, in order 4711.' })
    await page.getByRole('textbox', { name: en['studio.edit'] }).fill('What did I order?')
    await page.keyboard.press('Enter')
    await reply(page, 'What did I order?', '4711')
    await turnOf(page, 'What did I order?').getByText('2/2', { exact: true }).waitFor()

    await click(new RegExp(en['studio.app.none']))
    await click(en['beside.begin'], 'menuitem')
    await page.getByText(en['beside.text']).waitFor()
    platform.reply({ text: 'Yes.' })
    platform.reply({ text: 'Yes.' })
    await field(page).fill('Is that enough?')
    await page.keyboard.press('Enter')
    await soon(() => page.locator('.prose', { hasText: 'Yes.' }).count(), 2)
    await click(en['beside.keep'])
    await page.getByRole('heading', { level: 1, name: en['beside.title'] }).waitFor({
      state: 'detached',
    })

    await click(new RegExp(en['studio.app.none']))
    clicks += 1
    await page.getByRole('menuitemradio', { name: 'fake-2' }).click()
    platform.reply({ text: 'Goodbye.' })
    await ended(await ask(page, 'Thank you'))
    expect(chats().some(({ body }) => body.model === 'fake-2')).toBe(true)

    await click(/^More for/)
    const saving = page.waitForEvent('download')
    await click(en['talks.export.md'], 'menuitem')
    const file = await Bun.file(await (await saving).path()).text()
    const asked = ['lettuce?', 'What helps?', 'What did I order?', 'Is that enough?', 'Thank you']
    for (const text of asked) expect(file).toContain(text)
    expect(file).not.toContain('ordr')
    expect(clicks).toBe(9)
    expect(desk.complaints).toEqual([])
    await platform.stop()
  }, 150_000)
})
