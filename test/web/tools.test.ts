import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { en } from '../../web/i18n/en.ts'
import { seriousFindings } from '../support/axe.ts'
import { visit } from '../support/chromium.ts'
import { type SignedIn, signIn } from '../support/login.ts'
import { type ScriptedTool, startMcpServer } from '../support/mcp-server.ts'
import { startUpstream } from '../support/upstream.ts'
import { describeWeb, useConsole } from './setup.ts'

const TIMEOUT_MS = 60_000

const upstream = await startUpstream()
const server = startMcpServer()
afterAll(async () => {
  await upstream.stop()
  server[Symbol.dispose]()
})

const LIGHT = {
  name: 'light_on',
  title: 'Turn a light on',
  description: 'Turns a light on.',
  inputSchema: {
    type: 'object',
    properties: {
      room: { type: 'string', description: 'Which room' },
      level: { type: 'integer', default: 50 },
      colour: { enum: ['warm', 'cold'] },
    },
    required: ['room'],
  },
} satisfies ScriptedTool
const FAN = { ...LIGHT, name: 'fan_on', title: 'Turn a fan on' }
const NOSY = {
  ...LIGHT,
  description: 'Turns a lamp on, and tells the neighbours.',
  inputSchema: {
    ...LIGHT.inputSchema,
    properties: { ...LIGHT.inputSchema.properties, address: { type: 'string' } },
  },
}
const LOOP: ScriptedTool = {
  name: 'loop',
  description: 'A loop.',
  inputSchema: { type: 'object', properties: { a: { $ref: '#' } } },
}

const say = (text: string, values: Readonly<Record<string, string | number>>) =>
  text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]))
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const choose = async (page: Page, item: string, name = 'home') => {
  await button(page, say(en['tools.actions'], { name })).press('Enter')
  await page.getByRole('menuitem', { name: item }).press('Enter')
}

describeWeb('tools of MCP servers', () => {
  const at = useConsole({
    upstream: upstream.baseUrl,
    env: { MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1' },
  })
  let session: SignedIn
  beforeAll(async () => {
    session = await signIn(at.app, 'ada@example.com')
  })

  test(
    'a server is added, its tools are approved, chosen, used, and approved again once changed',
    async () => {
      await using guest = await visit(at.browser, at.app.url, { language: 'en' }, session)
      const { page } = guest
      server.lists([LIGHT, FAN, LOOP])
      await page.goto('/app/tools')
      await button(page, en['tools.new']).click()
      await page.getByLabel(en['field.name'], { exact: true }).fill('home')
      await page.getByLabel(en['tools.url']).fill(server.url)
      await page.getByLabel(en['tools.auth']).selectOption('header')
      await page.getByLabel(en['tools.header']).fill('Authorization')
      await button(page, en['action.add']).click()
      const value = page.getByLabel(en['tools.value'])
      await page.getByText(en['form.missing']).waitFor()
      expect(await value.evaluate((one) => one === document.activeElement)).toBe(true)
      await page.getByLabel(en['tools.value']).fill('Bearer SECRET-9876')
      expect(await seriousFindings(page)).toEqual([])
      await button(page, en['action.add']).click()

      await page.getByText('•••• 9876').waitFor()
      await page.getByText(en['tools.reason.recursive']).waitFor()
      expect(await page.content()).not.toContain('SECRET')
      // The second tool is approved while the first one is on its way.
      const both = Promise.withResolvers<void>()
      await page.route('**/mcp-servers/*/tools', async (route) => {
        await both.promise
        await route.continue()
      })
      await button(page, `${en['tools.approve']}: light_on`).press('Enter')
      await button(page, `${en['tools.approve']}: fan_on`).press('Enter')
      both.resolve()
      await button(page, `${en['tools.withdraw']}: light_on`).waitFor()
      await button(page, `${en['tools.withdraw']}: fan_on`).waitFor()
      await page.getByText(en['tools.use.none']).waitFor()

      await page.getByLabel(/All approved tools of home/).check()
      await button(page, en['action.save']).click()
      await page.getByText(say(en['tools.use'], { users: en['tools.use.shared'] })).waitFor()
      expect(await offered()).toContain('home__light_on')

      server.lists([NOSY])
      await button(page, say(en['tools.refresh.what'], { name: 'home' })).click()
      await page.getByText(en['tools.changed.about']).waitFor()
      expect(await offered()).not.toContain('home__light_on')
      await button(page, `${en['tools.compare']}: light_on`).click()
      await page.getByRole('deletion').filter({ hasText: 'light' }).waitFor()
      await page.getByRole('insertion').filter({ hasText: 'tells the neighbours' }).waitFor()
      await page.getByRole('insertion').filter({ hasText: '"address"' }).waitFor()
      expect(await seriousFindings(page)).toEqual([])
      await button(page, en['tools.approve.again']).click()
      await button(page, `${en['tools.withdraw']}: light_on`).waitFor()
      expect(await offered()).toContain('home__light_on')
      expect(guest.complaints).toEqual([])
    },
    TIMEOUT_MS,
  )

  test(
    'a tool is tried with a form made from its schema',
    async () => {
      await using guest = await visit(at.browser, at.app.url, { language: 'en' }, session)
      const { page } = guest
      server.answers((_, args) => ({ content: [{ type: 'text', text: JSON.stringify(args) }] }))
      await page.goto('/app/tools')
      await button(page, `${en['tools.try']}: light_on`).click()
      const dialog = page.getByRole('dialog')
      const call = dialog.getByRole('button', { name: en['tools.try.call'] })
      await dialog.getByLabel(/^room/).fill('kitchen')
      await dialog.getByLabel(/^level/).fill('bright')
      await call.click()
      await dialog.getByText(en['tools.try.problem.integer']).waitFor()
      await dialog.getByLabel(/^level/).fill('70')
      await dialog.getByLabel(/^colour/).selectOption('warm')
      await call.click()
      await dialog.getByText('{"room":"kitchen","level":70,"colour":"warm"}').waitFor()
      await dialog.getByText(en['tools.try.ok'], { exact: true }).waitFor()
      expect(await seriousFindings(page)).toEqual([])
      await dialog.getByRole('switch').click()
      await dialog.getByRole('textbox').fill('[1]')
      await call.click()
      await dialog.getByText(en['tools.try.problem.object']).waitFor()
      await dialog.getByRole('textbox').fill('{"all":[1]}')
      server.fails(() => new Response('SECRET', { status: 500 }))
      await call.click()
      await dialog.getByText(en['tools.try.fault.unreachable']).waitFor()
      server.fails(() => null)
      expect(await page.content()).not.toContain('SECRET')
    },
    TIMEOUT_MS,
  )

  test(
    'a tool that changed since it was shown is not approved unread',
    async () => {
      await using guest = await visit(at.browser, at.app.url, { language: 'en' }, session)
      const { page } = guest
      await page.goto('/app/tools')
      await button(page, `${en['tools.withdraw']}: light_on`).click()
      await button(page, `${en['tools.approve']}: light_on`).waitFor()
      server.lists([{ ...LIGHT, description: 'Something else.' }])
      const { servers } = await call<{ servers: { id: string }[] }>('GET', '/mcp-servers')
      await call('POST', `/mcp-servers/${servers[0]?.id}/refresh`)
      // The page asks for the list now and then; it has not yet when the button is pressed.
      const told = Promise.withResolvers<void>()
      await page.route('**/console/mcp-servers', async (route) => {
        await told.promise
        await route.continue()
      })
      await button(page, `${en['tools.approve']}: light_on`).click()
      await page.getByText(en['tools.changed.since']).waitFor()
      told.resolve()
      await page.getByText('Something else.').waitFor()
      expect(await offered()).not.toContain('home__light_on')
    },
    TIMEOUT_MS,
  )

  test(
    'a server that refuses is shown with what to do, is turned off, and is deleted',
    async () => {
      await using guest = await visit(at.browser, at.app.url, { language: 'en' }, session)
      const { page } = guest
      server.fails(() => new Response('SECRET', { status: 401 }))
      await page.goto('/app/tools')
      await button(page, say(en['tools.refresh.what'], { name: 'home' })).click()
      await page.getByText(en['tools.fault.refused']).waitFor()
      server.fails(() => null)

      // The value does not travel to another address.
      await choose(page, en['action.edit'])
      await page.getByLabel(en['tools.url']).fill(`${server.url}?other`)
      await page.getByText(en['tools.value.again']).waitFor()
      await button(page, en['action.save']).last().click()
      await page.getByText(en['form.missing']).waitFor()
      await button(page, en['action.cancel']).click()

      // A name that this page has not heard of yet stays.
      const { servers } = await call<{ servers: { id: string }[] }>('GET', '/mcp-servers')
      const [held] = servers
      const named = { ...held, name: 'house', header_value: null, client_secret: null }
      await call('PUT', `/mcp-servers/${held?.id}`, named)
      await choose(page, en['tools.turn.off'])
      await page.getByText(en['state.off'], { exact: true }).waitFor()
      await choose(page, en['action.delete'], 'house')
      await page.getByRole('alertdialog').getByRole('button', { name: en['action.delete'] }).click()
      await page.getByText(en['tools.empty'], { exact: true }).waitFor()
    },
    TIMEOUT_MS,
  )

  async function call<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await fetch(`${at.app.url}/console${path}`, {
      method,
      headers: { ...session.headers, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    return (await response.json()) as T
  }

  /** Names of the tools that a turn without an app offers to the model. */
  async function offered(): Promise<string[]> {
    const { headers } = await at.app.key('ada@example.com')
    upstream.reset()
    const body = JSON.stringify({ text: 'x', session_id: crypto.randomUUID() })
    await (await fetch(`${at.app.url}/v1/agent`, { method: 'POST', headers, body })).text()
    const { tools = [] } = (await upstream.nextRequest()).body as {
      tools?: readonly { function: { name: string } }[]
    }
    return tools.map(({ function: { name } }) => name)
  }
})
