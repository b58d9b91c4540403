import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { en } from '../../web/i18n/en.ts'
import { seriousFindings } from '../support/axe.ts'
import { visit } from '../support/chromium.ts'
import { type SignedIn, signIn } from '../support/login.ts'
import { startPageServer } from '../support/page-server.ts'
import { startUpstream } from '../support/upstream.ts'
import { describeWeb, soon, useConsole } from './setup.ts'

const upstream = await startUpstream()
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

describeWeb('a team', () => {
  const at = useConsole({ upstream: upstream.baseUrl })
  afterAll(upstream.stop)
  let owner: SignedIn
  beforeAll(async () => {
    owner = await signIn(at.app, 'ada@example.com')
  })

  test('an owner invites a person, who switches tenants and sees their role', async () => {
    await signIn(at.app, 'bob@example.com')
    await using guest = await visit(at.browser, at.app.url, { language: 'en' }, owner)
    const { page } = guest
    await page.goto('/app/members')
    await press(page, en['members.invite'])
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel(en['login.email']).fill('bob@example.com')
    await dialog.getByLabel(en['members.role'], { exact: true }).selectOption('viewer')
    await dialog.getByRole('button', { name: en['members.invite'] }).click()
    // Without mail the owner gets the address to pass on.
    await dialog.getByText(`${at.app.url}/login`).waitFor()
    await page.keyboard.press('Escape')
    const row = page.getByRole('row', { name: /bob@example.com/ })
    // Also later, where the mail was lost or names no address.
    await row.getByRole('button', { name: `Copy: ${en['members.address']}` }).click()
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    expect(copied).toBe(`${at.app.url}/login`)
    await row.getByRole('combobox').selectOption('editor')
    await page.getByText(en['members.saved']).waitFor()
    expect(await seriousFindings(page)).toEqual([])

    const bob = await signIn(at.app, 'bob@example.com')
    await using other = await visit(at.browser, at.app.url, { language: 'en' }, bob)
    await other.page.goto('/app/invitations')
    await press(other.page, `${en['invitations.accept']} ada`)
    await other.page.getByRole('button', { name: 'Go to “ada”' }).waitFor()
    await other.page.goto('/app/members')
    await other.page.getByText('bob@example.com', { exact: false }).first().waitFor()
    const menu = other.page.getByRole('combobox', { name: en['tenant.switch'] })
    await menu.selectOption({ label: `ada · ${en['members.role.editor']}` })
    await other.page.waitForURL(/\/app$/)
    await other.page.goto('/app/members')
    await other.page.getByText(/Your role is: Editor/).waitFor()

    const changed = page.waitForResponse((response) => response.request().method() === 'PUT')
    await row.getByRole('combobox').selectOption('viewer')
    expect((await changed).status()).toBe(200)
    await page.goto('/app/audit')
    await page
      .getByRole('row', { name: new RegExp(en['audit.action.member.update']) })
      .nth(1)
      .waitFor()
    // A viewer is not offered what the server refuses.
    await other.page.goto('/app')
    await other.page
      .locator('input[type=file]')
      .and(other.page.getByLabel(en['studio.files'], { exact: true }))
      .setInputFiles({ name: 'Note.txt', mimeType: 'text/plain', buffer: Buffer.from('A note.') })
    const note = other.page.getByRole('list', { name: en['studio.attached'] })
    await note.getByText('Note.txt').waitFor()
    // It goes with a question, and not into the knowledge base.
    expect(await note.getByRole('button').count()).toBe(1)
    expect(await seriousFindings(page)).toEqual([])
    expect([...guest.complaints, ...other.complaints]).toEqual([])
  }, 60_000)

  test('an app is shared, and a visitor talks to it on its page and on a site', async () => {
    using site = startPageServer()
    const { origin } = new URL(site.url)
    await using guest = await visit(at.browser, at.app.url, { language: 'en' }, owner)
    const { page } = guest
    await page.goto('/app/apps/new')
    await page.getByLabel(en['field.name']).fill('Shop help')
    await press(page, en['apps.create'])
    await page.getByRole('tab', { name: en['apps.tab.publish'] }).click()
    await press(page, en['app.shares.new'])
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel(en['field.name']).fill('Front page')
    await dialog.getByLabel(en['app.shares.origins']).fill(origin)
    await press(page, en['app.shares.create'])
    const link = (await page.getByTestId('share-link').textContent()) ?? ''
    const widget = (await page.getByTestId('share-widget').textContent()) ?? ''
    expect(await seriousFindings(page)).toEqual([])
    await dialog.getByRole('button', { name: en['action.close'] }).last().click()
    await page.getByText(origin).waitFor()

    upstream.reply({ text: '**Two** years <b>' })
    await using visitor = await visit(at.browser, at.app.url, { language: 'zh' })
    const chat = visitor.page
    await chat.goto(link)
    await chat.getByRole('textbox').fill('保修多久？')
    await chat.getByRole('textbox').press('Enter')
    await chat.getByText('Two', { exact: true }).waitFor()
    await soon(() => chat.locator('.reply').textContent(), 'Two years <b>')
    await chat.getByRole('button', { name: '新对话' }).waitFor()
    expect(await seriousFindings(chat)).toEqual([])
    await chat.reload()
    await chat.getByText('保修多久？').waitFor()

    upstream.reply({ text: 'From the frame' })
    site.html(`<!doctype html><title>Shop</title><body><h1>Shop</h1>${widget}</body>`)
    await chat.goto(origin)
    await chat.getByRole('button', { name: '打开对话' }).click()
    const frame = chat.frameLocator('iframe')
    await frame.getByRole('textbox').fill('?')
    await frame.getByRole('button', { name: '发送' }).click()
    await frame.locator('.reply', { hasText: 'From the frame' }).waitFor()
    expect([...guest.complaints, ...visitor.complaints]).toEqual([])
  }, 60_000)
})
