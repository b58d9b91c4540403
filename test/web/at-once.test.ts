import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { en } from '../../web/i18n/en.ts'
import { type Call, caller } from '../support/api.ts'
import { visit } from '../support/chromium.ts'
import { type SignedIn, signIn } from '../support/login.ts'
import { startMcpServer } from '../support/mcp-server.ts'
import { tempFolder } from '../support/temp.ts'
import { fill } from './kb-page.ts'
import { BUILD_MS, describeWeb, soon, useConsole } from './setup.ts'

const TIMEOUT_MS = 60_000

const server = startMcpServer()
afterAll(() => server[Symbol.dispose]())

/** Holds the answers of calls that this takes, until it is let go. */
async function hold(page: Page, url: string, method: string) {
  const rest = Promise.withResolvers<void>()
  await page.route(url, async (route) => {
    if (route.request().method() === method) await rest.promise
    await route.continue()
  })
  return rest.resolve
}

describeWeb('two things at once', () => {
  const at = useConsole({ env: { MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1' } })
  let session: SignedIn
  let call: Call
  beforeAll(async () => {
    session = await signIn(at.app, 'ada@example.com')
    call = caller(`${at.app.url}/console`, session.headers)
  }, BUILD_MS)
  const make = async (path: string, body: object) =>
    (await call<{ id: string }>('POST', path, body)).json().id
  const open = async (path: string) => {
    const guest = await visit(at.browser, at.app.url, { language: 'en' }, session)
    await guest.page.goto(path)
    return guest
  }

  test(
    'two tools of a server are told to ask no more, one while the other is on its way',
    async () => {
      const schema = { type: 'object' }
      server.lists([
        { name: 'lamp', inputSchema: schema },
        { name: 'fan', inputSchema: schema },
      ])
      const id = await make('/mcp-servers', { name: 'home', url: server.url })
      const tools = { approved: ['lamp', 'fan'], ask: ['lamp', 'fan'] }
      await call('PUT', `/mcp-servers/${id}/tools`, tools)
      await using guest = await open('/app/tools')
      const { page } = guest
      const switches = page.getByRole('switch', { name: en['tools.ask'] })
      await soon(() => switches.count(), 2)
      const letGo = await hold(page, '**/mcp-servers/*/tools', 'PUT')
      await switches.first().click()
      await switches.last().click()
      letGo()
      type Listed = { servers: { tools: { ask: boolean }[] }[] }
      const asking = async () =>
        (await call<Listed>('GET', '/mcp-servers'))
          .json()
          .servers.flatMap((one) => one.tools.map(({ ask }) => ask))
      await soon(asking, [false, false])
    },
    TIMEOUT_MS,
  )

  test(
    'a document is moved while another one is on its way',
    async () => {
      await make('/kb/collections', { name: 'Shop' })
      for (const title of ['Bread', 'Salt']) await make('/kb/docs', { title, text: title })
      await using guest = await open('/app/kb')
      const { page } = guest
      const move = async (title: string) => {
        await page.getByRole('button', { name: fill(en['kb.actions'], { title }) }).press('Enter')
        await page.getByRole('menuitemradio', { name: 'Shop' }).click()
      }
      const letGo = await hold(page, '**/kb/docs/*', 'PUT')
      await move('Bread')
      await move('Salt')
      letGo()
      await page.getByRole('button', { name: 'Shop · 2' }).waitFor()
    },
    TIMEOUT_MS,
  )

  test(
    'a key that is pasted over another one has the models of its own',
    async () => {
      await using guest = await open('/app/system/models')
      const { page } = guest
      await page.route('**/console/system/models', async (route) => {
        const { api_key: key } = route.request().postDataJSON() as { api_key: string }
        if (key.startsWith('first')) await second
        await route.fulfill({ json: { models: [`model of ${key}`], error_class: null } })
      })
      const pasted = Promise.withResolvers<void>()
      const second = pasted.promise
      await page.getByRole('button', { name: 'OpenAI' }).click()
      const key = page.getByLabel(fill(en['providers.key'], { name: 'OpenAI' }))
      await key.fill('first-key-of-all')
      await key.fill('second-key-of-all')
      pasted.resolve()
      // The models of the first one are not offered for the second, which is listed for itself.
      await page.locator('button[aria-busy=false]', { hasText: en['providers.list'] }).click()
      const model = page.locator('form', { has: key }).getByLabel(en['system.kind.MODEL'])
      await soon(() => model.inputValue(), 'model of second-key-of-all')
    },
    TIMEOUT_MS,
  )

  test(
    'what is typed while a form of the server is saved stays in it',
    async () => {
      await using guest = await open('/app/system/limits')
      const { page } = guest
      const form = page.locator('details', { hasText: en['system.limits'] }).first()
      await form.locator('summary').first().click()
      const [docs, days] = (['MB_KB_MAX_DOCS', 'MB_LOG_DAYS'] as const).map((name) =>
        form.getByLabel(en[`system.name.${name}`], { exact: true }),
      )
      if (!docs || !days) throw new Error('no fields')
      const letGo = await hold(page, '**/console/system', 'PUT')
      await docs.fill('321')
      await form.getByRole('button', { name: en['action.save'] }).click()
      await days.fill('5')
      letGo()
      await page.getByText(en['system.saved']).waitFor()
      expect(await days.inputValue()).toBe('5')
      expect(await docs.inputValue()).toBe('321')
    },
    TIMEOUT_MS,
  )

  test(
    'while several documents are moved, nothing else is begun with several',
    async () => {
      for (const title of ['Oil', 'Rice']) await make('/kb/docs', { title, text: title })
      await using guest = await open('/app/kb')
      const { page } = guest
      await page.getByRole('button', { name: en['kb.select'] }).click()
      await page.getByRole('checkbox', { name: 'Oil', exact: true }).click()
      const remove = page.getByRole('button', { name: en['action.delete'], exact: true })
      expect(await remove.isDisabled()).toBe(false)
      const letGo = await hold(page, '**/kb/docs/*', 'PUT')
      await page.getByRole('combobox', { name: en['kb.collections.move'] }).selectOption('Shop')
      await page.getByRole('button', { name: en['kb.collections.go'], exact: true }).click()
      await soon(() => remove.isDisabled(), true)
      letGo()
      await soon(() => remove.isDisabled(), false)
    },
    TIMEOUT_MS,
  )

  test(
    'a schedule is paused and a device is bound under the names that a colleague has given',
    async () => {
      const schedule = { name: 'Old', text: 'hi', cron: '0 8 * * *' }
      const plan = `/schedules/${await make('/schedules', schedule)}`
      const device = `/devices/${await make('/devices', { name: 'Lamp' })}`
      const app = await make('/apps', { name: 'Butler', prompt: 'p' })
      await using guest = await open('/app/schedules')
      const { page } = guest
      const pause = page.getByRole('button', { name: fill(en['schedules.pause'], { name: 'Old' }) })
      await pause.waitFor()
      await call('PUT', plan, { ...schedule, name: 'New' })
      await pause.click()
      type Named = { name: string; enabled?: boolean; app_id?: string | null }
      const now = async (path: string) => (await call<Named>('GET', path)).json()
      await soon(async () => (await now(plan)).enabled, false)
      expect((await now(plan)).name).toBe('New')

      await page.goto(`/app${device}`)
      const choice = page.getByLabel(en['devices.app'])
      await choice.getByRole('option', { name: 'Butler' }).waitFor({ state: 'attached' })
      await call('PUT', device, { name: 'Desk lamp' })
      await choice.selectOption(app)
      await soon(async () => (await now(device)).app_id, app)
      expect((await now(device)).name).toBe('Desk lamp')
    },
    TIMEOUT_MS,
  )

  test(
    'of a folder with more files than are taken at once, the person is told',
    async () => {
      using folder = tempFolder()
      mkdirSync(join(folder.path, 'many'))
      for (let n = 0; n <= 200; n++) writeFileSync(join(folder.path, `many/${n}.txt`), String(n))
      await using guest = await open('/app/kb')
      const { page } = guest
      await page.getByRole('heading', { name: en['kb.docs'] }).waitFor()
      // None is sent: the first one is under way as long as the test.
      await page.route('**/console/kb/files', () => {})
      const mouse = await guest.context.newCDPSession(page)
      const files = [join(folder.path, 'many')]
      const data = { items: [], files, dragOperationsMask: 1 }
      for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
        await mouse.send('Input.dispatchDragEvent', { type, x: 600, y: 300, data })
      }
      await page.getByText(fill(en['kb.drop.part'], { max: 200 })).waitFor()
      await soon(() => page.locator('main li.entry', { hasText: '.txt' }).count(), 200)
    },
    TIMEOUT_MS,
  )
})
