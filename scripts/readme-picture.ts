// Takes the picture of the README. See --help.
import { join } from 'node:path'
import { launch, visit } from '../test/support/chromium.ts'
import { signIn } from '../test/support/login.ts'
import { seedTenant } from '../test/support/seed-tenant.ts'
import { startServer } from '../test/support/server.ts'
import { tempFolder } from '../test/support/temp.ts'
import { startUpstream } from '../test/support/upstream.ts'
import { buildWeb } from './build-web.ts'
import { readArguments, runScript } from './usage.ts'

const root = join(import.meta.dir, '..')
const out = join(root, 'web/pictures/studio.png')

const HELP = `Takes the picture of the README into web/pictures: an answer that cites
documents and has used a tool, from a model that is played. Needs Chromium.

  bun scripts/readme-picture.ts
`

const QUESTION = 'How long is the warranty, and what is 18 % of 240?'
const ANSWER = `Devices have a **warranty of two years**, batteries of twelve months [1].

| Part | Covered for |
|---|---|
| Device | 24 months |
| Battery | 12 months |

18 % of 240 is **43.2**.`

await runScript(HELP, async (args) => {
  readArguments({ args, options: {} })
  await buildWeb(join(root, 'dist/web'))
  using folder = tempFolder()
  const upstream = await startUpstream()
  const env = { MB_LLM_BASE_URL: upstream.baseUrl, MB_LLM_MODEL: 'qwen3-8b' }
  await using server = await startServer({ dataDir: folder.path, env })
  const session = await signIn(server, 'ada@example.com')
  await seedTenant(server.url, session.headers.cookie)
  upstream.reset()
  upstream.reply({ toolCalls: [{ name: 'calculator', arguments: '{"expression":"240*0.18"}' }] })
  upstream.reply({ text: ANSWER })
  const browser = await launch()
  const look = { language: 'en', theme: 'light', width: 1280, height: 860 } as const
  await using guest = await visit(browser, server.url, look, session)
  const { page } = guest
  await page.goto('/app')
  await page.getByRole('textbox').last().fill(QUESTION)
  await page.keyboard.press('Enter')
  await page.locator('[data-testid=reply][aria-busy=false]').waitFor()
  await page.getByRole('button', { name: 'More about this answer' }).click()
  await page.getByRole('menuitem', { name: 'Why this answer' }).click()
  await page.getByText('Knowledge base', { exact: true }).last().waitFor()
  await page.screenshot({ path: out })
  await browser.close()
  await upstream.stop()
  process.stdout.write(`${out}\n`)
})
