// Takes screenshots of every page of the console. See --help.
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { MANUAL_PATHS } from '../src/core/manual.ts'
import { type Look, launch, visit } from '../test/support/chromium.ts'
import { signIn } from '../test/support/login.ts'
import { seedTenant } from '../test/support/seed-tenant.ts'
import { startServer } from '../test/support/server.ts'
import { tempFolder } from '../test/support/temp.ts'
import { buildWeb } from './build-web.ts'
import { readArguments, runScript, UsageError } from './usage.ts'

const root = join(import.meta.dir, '..')
const out = join(root, 'dist/screenshots')

const wide = { width: 1280, height: 900 }
const phone = { width: 390, height: 844 }
const ALL: readonly Look[] = (['zh', 'en'] as const).flatMap((language) =>
  (['light', 'dark'] as const).flatMap((theme) => [
    { language, theme, ...wide },
    { language, theme, ...phone },
  ]),
)
const QUICK: readonly Look[] = [
  { language: 'zh', theme: 'light', ...wide },
  { language: 'en', theme: 'dark', ...phone },
]

type Shot = readonly [name: string, path: string, prepare?: (page: Page) => Promise<unknown>]

const manualName = (path: string) => path.slice(1).replace('/', '-')

/** Dialogs and other states that need a click. */
const states: readonly Shot[] = [
  ...MANUAL_PATHS.map((path): Shot => [manualName(path), path]),
  [
    'manual-search',
    '/docs',
    async (page) => {
      await page.getByRole('searchbox').fill('backup 备份')
      await page.locator('main ol > li').first().waitFor()
    },
  ],
  [
    'reference-open',
    '/docs/reference',
    async (page) => {
      await page.getByText('/v1/agent', { exact: true }).click()
      await page.getByRole('button', { name: /试用|Try it/ }).click()
    },
  ],
  [
    'confirm',
    '/app/keys',
    (page) =>
      page
        .getByRole('button', { name: /^(吊销|Revoke)$/ })
        .first()
        .click(),
  ],
  [
    'key-made',
    '/app/keys',
    async (page) => {
      await page.getByRole('button', { name: /签发密钥|New key/ }).click()
      await page.getByRole('button', { name: /^(签发|Issue)$/ }).click()
      await page.getByTestId('secret').waitFor()
    },
  ],
  [
    'plan',
    '/app/transfer',
    async (page) => {
      const config = await page.evaluate(async () => (await fetch('/console/export')).json())
      config.apps[0].model = 'another-model'
      config.personas.push({ name: 'New one', prompt: 'Be brief.', is_default: false })
      await page.locator('input[type=file]').setInputFiles({
        name: 'config.json',
        mimeType: 'application/json',
        buffer: Buffer.from(JSON.stringify(config)),
      })
      await page.getByRole('table').waitFor()
    },
  ],
]

const shots = (appId: string, deviceId: string): readonly Shot[] => [
  ['home', '/app/activity'],
  [
    'studio',
    '/app',
    async (page) => {
      await page.getByRole('textbox').last().fill('退货要几天？ How long do I have?')
      await page.keyboard.press('Enter')
      await page.locator('[data-testid=reply][aria-busy=false]').waitFor()
      await page.waitForLoadState('networkidle')
    },
  ],
  ['apps', '/app/apps'],
  ['app', `/app/apps/${appId}`],
  ...[2, 3, 4].map(
    (tab): Shot => [
      `app-${['', 'build', 'knowledge', 'publish', 'activity'][tab]}`,
      `/app/apps/${appId}`,
      async (page) => {
        await page
          .getByRole('tab')
          .nth(tab - 1)
          .click()
        await page.waitForFunction(() => !document.querySelector('.skeleton'))
      },
    ],
  ),
  [
    'kb',
    '/app/kb',
    async (page) => {
      await page.getByRole('searchbox').fill('退货要几天')
      await page.keyboard.press('Enter')
      await page.locator('ol > li').first().waitFor()
    },
  ],
  ['personas', '/app/personas'],
  ['provider', '/app/provider'],
  ['keys', '/app/keys'],
  ['devices', '/app/devices'],
  ['device', `/app/devices/${deviceId}`],
  [
    'pairing',
    '/app/devices',
    async (page) => {
      await page.getByRole('button', { name: /添加设备|Add a device/ }).click()
      await page.getByRole('dialog').getByRole('textbox').first().fill('Kitchen')
      await page.keyboard.press('Enter')
      await page.getByTestId('code').waitFor()
    },
  ],
  ['server-overview', '/app/system'],
  [
    'server-models',
    '/app/system/models',
    async (page) => {
      await page.getByText(/^(语言模型|Language model)$/).click()
      await page
        .getByRole('button', { name: /^(测试|Test)$/ })
        .first()
        .click()
      await page.locator('details[open] [aria-live] > *').first().waitFor()
    },
  ],
  ['server-voice', '/app/system/voice'],
  ['server-mail', '/app/system/mail'],
  ['server-people', '/app/system/people'],
  ['server-limits', '/app/system/limits'],
  ['members', '/app/members'],
  ['account', '/app/account'],
  ['logs', '/app/logs'],
  ['usage', '/app/usage'],
  ['sessions', '/app/sessions'],
  ['session', '/app/sessions/customer-1042'],
  ['settings', '/app/settings'],
  ['transfer', '/app/transfer'],
  ...states,
]

/** The names that `--only` accepts. */
const NAMES = ['login', ...shots('', '').map(([name]) => name)]

const HELP = `Takes screenshots of every page of the console, wide and narrow, light and dark,
in Chinese and English, into dist/screenshots. Needs Chromium.

  bun scripts/screenshots.ts [--only NAME] [--quick]

  --only NAME   pages and states whose name begins with NAME, such as kb or docs; an unknown
                name lists all
  --quick       two variants of each page instead of eight
`

function readOptions(args: string[]) {
  const { values } = readArguments({
    args,
    options: { only: { type: 'string' }, quick: { type: 'boolean', default: false } },
  })
  const { only, quick } = values
  const isWanted = (name: string) =>
    only === undefined || only === name || name.startsWith(`${only}-`)
  if (!NAMES.some(isWanted)) {
    throw new UsageError(`there is no page "${only}"; there are ${NAMES.join(', ')}`)
  }
  return { isWanted, quick }
}

const endOf = ({ language, theme, width }: Look) =>
  `${language}-${theme}-${width === wide.width ? 'wide' : 'phone'}`

async function take(page: Page, name: string, look: Look): Promise<void> {
  await page.evaluate(async () => {
    await document.fonts.ready
    if (!document.querySelector('.composer')) scrollTo(0, 0)
  })
  const path = join(out, `${name}-${endOf(look)}.png`)
  await page.screenshot({ path, fullPage: name !== 'studio' })
}

async function takeLogin(browser: Browser, url: string, look: Look): Promise<void> {
  await using stranger = await visit(browser, url, look)
  const { page } = stranger
  await page.goto('/login')
  await page.getByRole('textbox').waitFor()
  await take(page, 'login', look)
  await page.getByRole('textbox').fill(`${endOf(look)}@example.com`)
  await page.keyboard.press('Enter')
  await page.getByRole('textbox', { name: /验证码|code/ }).waitFor()
  await take(page, 'login-code', look)
}

await runScript(HELP, async (args) => {
  const { isWanted, quick } = readOptions(args)
  await buildWeb(join(root, 'dist/web'))
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  using folder = tempFolder()
  await using server = await startServer({ dataDir: folder.path })
  const session = await signIn(server, 'ada@example.com')
  const { app, device } = await seedTenant(server.url, session.headers.cookie)
  const browser = await launch()
  for (const look of quick ? QUICK : ALL) {
    if (isWanted('login')) await takeLogin(browser, server.url, look)
    await using guest = await visit(browser, server.url, look, session)
    for (const [name, path, prepare] of shots(app.id, device.id)) {
      if (!isWanted(name)) continue
      await guest.page.goto(path)
      await guest.page.waitForLoadState('networkidle')
      await prepare?.(guest.page)
      await take(guest.page, name, look)
    }
    for (const complaint of guest.complaints) {
      process.stderr.write(`${endOf(look)}: ${complaint}\n`)
    }
  }
  await browser.close()
  process.stdout.write(`${out}\n`)
})
