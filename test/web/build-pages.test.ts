import { beforeAll, expect, test } from 'bun:test'
import { en } from '../../web/i18n/en.ts'
import { type Call, caller } from '../support/api.ts'
import { visit } from '../support/chromium.ts'
import { type SignedIn, signIn } from '../support/login.ts'
import { refusedUrl, startUpstream } from '../support/upstream.ts'
import { describeWeb, soon, useConsole } from './setup.ts'

/** Without a takeover, so that its refusal is the end of a turn. */
const PROVIDER = { api_key: 'k', failover: false }

describeWeb('pages of the door Build', () => {
  const at = useConsole({ env: { MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1' } })
  let owner: SignedIn
  let call: Call
  beforeAll(async () => {
    owner = await signIn(at.app, 'ada@example.com')
    call = caller(`${at.app.url}/console`, owner.headers)
  })
  const open = () => visit(at.browser, at.app.url, { language: 'en' }, owner)
  const made = async (path: string, body: object) =>
    (await call<{ id: string }>('POST', path, body)).json().id

  test('an assistant shows its icon and its line, and which documents it searches', async () => {
    const shop = await made('/kb/collections', { name: 'Shop' })
    await made('/kb/docs', { title: 'Returns', text: 'Ten days.', collection_id: shop })
    const face = { icon: '💡', description: 'Knows the lamps' }
    const app = await made('/apps', { name: 'Lamps', ...face, collections: [shop] })
    await using guest = await open()
    const { page } = guest
    await page.goto('/app/apps')
    const card = page.getByRole('link', { name: /Lamps.*Knows the lamps/ })
    await card.getByText('💡').waitFor()
    await page.goto(`/app/apps/${app}`)
    const knowledge = page.getByRole('tab', { name: en['apps.tab.knowledge'] })
    await knowledge.click()
    await page.getByText(en['apps.knowledge.some']).waitFor()
    await page.getByRole('listitem').getByText('Shop (1)').waitFor()
    await call('PUT', `/apps/${app}`, { name: 'Lamps', collections: [] })
    await page.reload()
    await knowledge.click()
    await page.getByText(en['apps.knowledge.none']).waitFor()
    expect(guest.complaints).toEqual([])
  }, 60_000)

  test('a schedule says how its last run ended, and the log names the reason', async () => {
    const upstream = await startUpstream()
    await call('PUT', '/provider', { base_url: upstream.baseUrl, ...PROVIDER })
    upstream.fault(401)
    const id = await made('/schedules', { name: 'Report', cron: '0 3 * * *', text: 'Report' })
    await call('POST', `/schedules/${id}/run`, {})
    await at.app.runsEnded()
    await at.app.flush()
    await using guest = await open()
    const { page } = guest
    await page.goto('/app/schedules')
    const row = page.getByRole('listitem').filter({ hasText: 'Report' })
    await row.getByText(en['schedules.status.failed'], { exact: true }).waitFor()
    await row.getByRole('button', { name: `${en['schedules.run']}: Report` }).click()
    // Both the row and the list of runs, which opens by itself, tell the end without a reload.
    await row.getByRole('link', { name: en['schedules.conversation'] }).waitFor()
    await soon(() => row.getByText(en['schedules.status.done'], { exact: true }).count(), 2)
    await row.getByText(en['schedules.status.failed'], { exact: true }).waitFor()
    await page.goto('/app/activity')
    await page.getByText(en['logs.class.upstream']).waitFor()
    await upstream.stop()
  }, 60_000)

  test('a server that did not answer is not said to have answered', async () => {
    const url = `${await refusedUrl()}/mcp`
    await made('/mcp-servers', { name: 'away', url })
    await using guest = await open()
    await guest.page.goto('/app/tools')
    const server = guest.page.getByRole('listitem').filter({ hasText: url })
    await server.getByText(en['tools.state.failed'], { exact: true }).waitFor()
    await soon(async () => /answered in/.test((await server.textContent()) ?? ''), false)
  }, 60_000)

  test('the palette tells pages of one name apart', async () => {
    await using guest = await open()
    const { page } = guest
    await page.goto('/app/keys')
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.keyboard.press('Control+k')
    const pages = page.getByRole('option', { name: /Assistants$|Overview$/ })
    await soon(
      () => pages.allTextContents(),
      ['Chat · Assistants', 'Build · Assistants', 'Overview'],
    )
  }, 60_000)

  test('a device that was just paired leads to what can be said through it', async () => {
    await using guest = await open()
    const { page } = guest
    await page.goto('/app/devices?new=true')
    await page.getByRole('dialog').getByLabel(en['field.name']).fill('Lamp')
    await page.keyboard.press('Enter')
    const code = (await page.getByTestId('code').textContent()) ?? ''
    await caller(at.app.url, {})('POST', '/v1/devices/activate', { code })
    await page.getByRole('dialog').getByRole('link', { name: en['devices.say'] }).click()
    await page.getByRole('heading', { level: 1, name: 'Lamp' }).waitFor()
    await page.getByRole('textbox', { name: en['devices.say'] }).waitFor()
    await page.getByRole('dialog').waitFor({ state: 'detached' })

    // Paired anew, it is not called paired because of the first time.
    const listed = Promise.withResolvers<void>()
    await page.route('**/console/devices', async (route) => {
      await listed.promise
      await route.continue()
    })
    const recode = { name: en['devices.recode'] }
    await page.getByRole('button', recode).click()
    await page.getByRole('alertdialog').getByRole('button', recode).click()
    await page.getByTestId('code').waitFor()
    listed.resolve()
  }, 60_000)

  test('the link of a share is looked at again under its name', async () => {
    const app = await made('/apps', { name: 'Shared' })
    await made(`/apps/${app}/shares`, { name: 'Front page' })
    await using guest = await open()
    const { page } = guest
    await page.goto(`/app/apps/${app}`)
    await page.getByRole('tab', { name: en['apps.tab.publish'] }).click()
    await page
      .getByRole('button', { name: `${en['app.shares.link']}: Front page`, exact: true })
      .click()
    const dialog = page.getByRole('dialog', { name: 'Share “Front page”' })
    await dialog.getByTestId('share-link').waitFor()
    await dialog.getByRole('button', { name: en['action.close'] }).last().click()
    await dialog.waitFor({ state: 'detached' })
  }, 60_000)
})
