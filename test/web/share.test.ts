import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { startApp, type TestApp } from '../support/app.ts'
import { launch } from '../support/chromium.ts'
import { startShare } from '../support/shares.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { BUILD_MS, buildConsole, describeWeb, soon } from './setup.ts'

describeWeb('a shared app', () => {
  let app: TestApp
  let upstream: Upstream
  let browser: Browser
  beforeAll(async () => {
    await buildConsole()
    upstream = await startUpstream()
    app = await startApp({ env: { MB_LLM_BASE_URL: upstream.baseUrl, MB_LLM_MODEL: 'fake' } })
    browser = await launch()
  }, BUILD_MS)
  afterAll(async () => {
    await browser?.close()
    await app?.[Symbol.asyncDispose]()
    await upstream?.stop()
  })

  /** A page of another origin with the widget of a share on it. */
  async function site(origins: (own: string) => readonly string[]) {
    const page = { html: '' }
    const server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: () => new Response(page.html, { headers: { 'content-type': 'text/html' } }),
    })
    const own = `http://localhost:${server.port}`
    const { share } = await startShare(app, { origins: origins(own) })
    page.html = `<!doctype html><title>Shop</title>
      <script src="${app.url}/widget.js" data-token="${share.token}" async></script>`
    const context = await browser.newContext({ locale: 'en' })
    const tab = await context.newPage()
    await tab.goto(own)
    await tab.getByRole('button', { name: 'Open chat' }).click()
    return {
      tab,
      async [Symbol.asyncDispose]() {
        await context.close()
        await server.stop(true)
      },
    }
  }

  test('the widget opens the chat on a site that the share names', async () => {
    await using shop = await site((own) => [own])
    const chat = shop.tab.frameLocator('iframe')
    await chat.getByRole('button', { name: 'Send' }).waitFor()
    await shop.tab.getByRole('button', { name: 'Close chat' }).click()
    await soon(() => shop.tab.locator('iframe').isVisible(), false)
  })

  test('the widget shows one line on a site that the share does not name', async () => {
    await using shop = await site(() => ['https://other.example'])
    await shop.tab.getByText('The chat cannot be opened on this site.').waitFor()
    expect(await shop.tab.locator('iframe').count()).toBe(0)
  })

  test('blocks of a growing reply are drawn once, and the whole reply at its end', async () => {
    const { share } = await startShare(app)
    const context = await browser.newContext({ locale: 'en' })
    const tab = await context.newPage()
    await tab.goto(`${app.url}/s/${share.token}`)
    const gate = Promise.withResolvers<void>()
    const paragraphs = Array.from({ length: 12 }, (_, at) => `Paragraph *${at}*.\n\n`)
    const long = Array.from({ length: 60 }, () => ' '.repeat(500))
    const pieces = [...paragraphs, 'A last one.\n\n', ...long, 'x']
    upstream.reply({ pieces, hold: { after: 8, until: gate.promise } })
    await tab.getByRole('textbox').fill('Tell me')
    await tab.keyboard.press('Enter')
    await tab.getByText('Paragraph 6.').waitFor()
    await tab.evaluate(() => document.querySelector('.reply p')?.setAttribute('data-kept', ''))
    gate.resolve()
    await soon(() => tab.locator('.turn .waiting').textContent(), '')
    expect(await tab.locator('.reply p').count()).toBe(13)
    expect(await tab.locator('.reply p[data-kept]').textContent()).toBe('Paragraph 0.')
    expect(await tab.locator('.reply pre').textContent()).toEndWith(' x')
    await context.close()
  }, 60_000)
})
