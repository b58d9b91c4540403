import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { en } from '../../web/i18n/en.ts'
import { zh } from '../../web/i18n/zh.ts'
import { launch, visit } from '../support/chromium.ts'
import { codesFor, type PrintingServer } from '../support/login.ts'
import { goTo } from './go-to.ts'
import { buildConsole, describeWeb, startProduct } from './setup.ts'
import { openWhy } from './studio-page.ts'

type Texts = typeof en
const LANGUAGES = [
  ['zh', zh as Texts],
  ['en', en],
] as const

/** Presses what bears that name. */
const press = (page: Page, name: string) =>
  page.getByRole('button', { name, exact: true }).last().click()

async function signIn(page: Page, app: PrintingServer, email: string, t: Texts) {
  await page.goto('/')
  await page.getByRole('textbox', { name: t['login.email'] }).fill(email)
  await page.keyboard.press('Enter')
  const code = await app.printed.until((text) => codesFor(email, text)[0] ?? null)
  // Pasted with a blank in the middle, as mail programs show it.
  await page.evaluate(
    (text) => navigator.clipboard.writeText(text),
    `${code.slice(0, 3)} ${code.slice(3)}`,
  )
  await page.getByRole('textbox', { name: t['login.code'] }).focus()
  await page.keyboard.press('Control+V')
  // Who runs a server without a model is asked for one first.
  await page.getByRole('heading', { level: 1, name: t['welcome.title'] }).waitFor()
  await page.goto('/app')
  await page.getByRole('heading', { level: 1, name: t['studio.fresh'] }).waitFor()
}

async function issueKey(page: Page, t: Texts): Promise<string> {
  await goTo(page, 'nav.keys', t)
  await press(page, t['keys.new'])
  await press(page, t['keys.create'])
  const key = (await page.getByTestId('secret').textContent()) ?? ''
  await press(page, t['secret.kept'])
  return key
}

async function makeApp(page: Page, t: Texts, name: string) {
  await goTo(page, 'nav.apps', t)
  await page.getByRole('link', { name: t['apps.new'] }).first().click()
  await page.getByRole('textbox', { name: t['field.name'] }).fill(name)
  await page.getByRole('textbox', { name: t['apps.prompt'] }).fill('Answer from the documents.')
  const preview = page.getByRole('complementary', { name: t['preview.title'] })
  await preview.getByText('Answer from the documents.').waitFor()
  await press(page, t['apps.create'])
  await page.getByRole('heading', { level: 1, name }).waitFor()
}

async function upload(page: Page, t: Texts) {
  await goTo(page, 'nav.kb', t)
  await page
    .getByLabel(t['kb.choose'])
    .last()
    .setInputFiles([
      {
        name: 'returns.md',
        mimeType: 'text/markdown',
        buffer: Buffer.from(
          '# Returns\n\n退货须在签收后七天内提出。Returns are possible for 7 days.',
        ),
      },
      {
        name: 'picture.png',
        mimeType: 'image/png',
        buffer: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0, 0, 13, 1, 2, 3, 255]),
      },
    ])
  await page.getByText(t['kb.fail.unsupported']).waitFor()
  await page.getByRole('link', { name: 'returns', exact: true }).waitFor()
}

async function chat(page: Page, t: Texts, name: string) {
  await goTo(page, 'nav.chat', t)
  const picker = t['studio.picker'].split(/[{：:]/)[0] ?? ''
  await page.getByRole('button', { name: new RegExp(`^${picker}`) }).click()
  await page.getByRole('menuitemradio', { name, exact: true }).click()
  await page.getByRole('textbox', { name: t['studio.ask'] }).fill('退货须在几天内提出？')
  await page.keyboard.press('Enter')
  const reply = page.locator('[data-testid=reply][aria-busy=false]')
  await openWhy(reply, t)
  await page.getByText(t['channel.builtin'], { exact: true }).waitFor()
  if (await page.getByRole('dialog').isVisible()) await page.keyboard.press('Escape')
  await reply
    .getByRole('button', { name: /returns/ })
    .first()
    .click()
  await page.getByRole('dialog').locator('[aria-current=true]', { hasText: '七天内' }).waitFor()
  await page.keyboard.press('Escape')
}

async function pair(page: Page, t: Texts, app: PrintingServer) {
  await goTo(page, 'nav.devices', t)
  await press(page, t['devices.new'])
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: t['field.name'] }).fill('Speaker')
  await page.keyboard.press('Enter')
  const code = ((await page.getByTestId('code').textContent()) ?? '').replaceAll(' ', '')
  const response = await fetch(`${app.url}/v1/devices/activate`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  })
  expect(response.status).toBe(200)
  await page.getByText(t['devices.paired']).waitFor()
  await press(page, t['action.close'])
  const { key } = (await response.json()) as { key: string }
  await page.getByRole('link', { name: 'Speaker' }).click()
  await page.getByLabel(t['devices.say'], { exact: true }).fill('Dinner is ready.')
  await press(page, t['devices.say.send'])
  await page.getByText(t['devices.say.later']).waitFor()
  const heartbeat = await fetch(`${app.url}/v1/devices/heartbeat`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
  })
  expect(await heartbeat.json()).toMatchObject({ notices: [{ text: 'Dinner is ready.' }] })
}

async function carryOver(page: Page, t: Texts, name: string) {
  await goTo(page, 'nav.transfer', t)
  await page.getByRole('switch', { name: t['transfer.kb'] }).click()
  await page.locator('a[download][href*="kb=1"]').waitFor()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: t['transfer.download'] }).click(),
  ])
  const config = JSON.parse(await Bun.file(await download.path()).text()) as {
    apps: { name: string }[]
    documents: object[]
  }
  expect(config.apps.map((item) => item.name)).toEqual([name])
  expect(config.documents).toHaveLength(1)
  config.apps.push({ ...config.apps[0], name: `${name} 2` })
  config.documents.push({ title: `${name} 2`, text: name })
  await page
    .getByLabel(t['transfer.choose'])
    .last()
    .setInputFiles({
      name: 'config.json',
      mimeType: 'application/json',
      buffer: Buffer.from(JSON.stringify(config)),
    })
  const plan = page.getByRole('table', { name: t['transfer.plan'] })
  await plan.getByRole('row', { name: `${name} 2 ${t['transfer.fate.new']}` }).waitFor()
  await press(page, t['transfer.go'])
  const counted = (key: 'nav.apps' | 'kb.docs') =>
    t['system.summary'].replace('{name}', t[key]).replace('{value}', '1')
  const report = page.getByTestId('report')
  const done = report.getByText(t['transfer.done'].split('{parts}')[0] ?? '')
  for (const key of ['nav.apps', 'kb.docs'] as const) {
    await done.filter({ hasText: counted(key) }).waitFor()
  }
  await goTo(page, 'nav.apps', t)
  await page.getByRole('heading', { name: `${name} 2` }).waitFor()
}

describeWeb('a person sets everything up', () => {
  let browser: Browser
  beforeAll(async () => {
    await buildConsole()
    browser = await launch()
  })
  afterAll(() => browser.close())

  test.each(LANGUAGES)(
    'a person sets up keys, an app, documents, a chat and a device in %s',
    async (language, t) => {
      await using app = await startProduct()
      await using guest = await visit(browser, app.url, { language })
      const { page } = guest
      const name = `Shop ${language}`
      await signIn(page, app, `${language}@example.com`, t)
      const key = await issueKey(page, t)
      expect(key).toMatch(/^sk-mb-[0-9a-f]{64}$/)
      await makeApp(page, t, name)
      await upload(page, t)
      await chat(page, t, name)
      await pair(page, t, app)
      await carryOver(page, t, name)
      const answer = await fetch(`${app.url}/v1/apps`, {
        headers: { authorization: `Bearer ${key}` },
      })
      expect(((await answer.json()) as { apps: unknown[] }).apps).toHaveLength(2)
      expect(guest.complaints).toEqual([])
    },
    60_000,
  )
})
