import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { en } from '../../web/i18n/en.ts'
import { launch, visit } from '../support/chromium.ts'
import { signIn } from '../support/login.ts'
import { startServer } from '../support/server.ts'
import { tempFolder } from '../support/temp.ts'
import { startUpstream } from '../support/upstream.ts'
import { BUILD_MS, buildConsole, describeWeb, soon } from './setup.ts'
import { ask, field, turnOf } from './studio-page.ts'

describeWeb('a server that is started anew in the middle of an answer', () => {
  let browser: Browser
  beforeAll(async () => {
    await buildConsole()
    browser = await launch()
  }, BUILD_MS)
  afterAll(() => browser.close())

  test('leaves the question once, and what waits behind it waits on', async () => {
    using folder = tempFolder()
    const upstream = await startUpstream()
    const env = { MB_LLM_BASE_URL: upstream.baseUrl, MB_LLM_MODEL: 'fake' }
    const first = await startServer({ dataDir: folder.path, env })
    await using guest = await visit(
      browser,
      first.url,
      { language: 'en' },
      await signIn(first, 'a@example.com'),
    )
    const { page } = guest
    await page.goto('/app')
    upstream.reply({ pieces: ['One', ' two'], hold: { after: 1, until: new Promise(() => {}) } })
    const turn = await ask(page, 'First?')
    await turn.locator('.prose', { hasText: 'One' }).waitFor()
    await field(page).fill('Second?')
    await page.keyboard.press('Enter')
    const queue = page.getByRole('region', { name: en['studio.queue'] })
    await queue.getByText('Second?').waitFor()
    await first.kill()
    const port = new URL(first.url).port
    await using _second = await startServer({
      dataDir: folder.path,
      env: { ...env, MB_PORT: port },
    })
    await turnOf(page, 'First?').getByText(en['studio.interrupted']).waitFor()
    await queue.getByText(en['studio.queue.held']).waitFor()
    const asked = () => page.locator('.bubble').allTextContents()
    await soon(asked, ['First?'])
    await page.reload()
    await turnOf(page, 'First?').getByText(en['studio.interrupted']).waitFor()
    expect(await asked()).toEqual(['First?'])
    await queue.getByText('Second?').waitFor()
    await upstream.stop()
  }, 60_000)
})
