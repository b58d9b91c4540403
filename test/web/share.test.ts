import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { startApp, type TestApp } from '../support/app.ts'
import { seriousFindings } from '../support/axe.ts'
import { launch } from '../support/chromium.ts'
import { startShare } from '../support/shares.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { BUILD_MS, buildConsole, describeWeb, soon } from './setup.ts'

interface Counting {
  readonly intervals: ReadonlySet<unknown>
}

/** Counts in a page what it does again and again. */
function countIntervals() {
  const intervals = new Set<unknown>()
  const [set, clear] = [window.setInterval, window.clearInterval]
  Object.assign(window, {
    intervals,
    setInterval(...given: Parameters<typeof set>) {
      const id = set(...given)
      intervals.add(id)
      return id
    },
    clearInterval(id: number) {
      intervals.delete(id)
      clear(id)
    },
  })
}

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
    const { share, call, at } = await startShare(app, { origins: origins(own) })
    page.html = `<!doctype html><title>Shop</title>
      <script src="${app.url}/widget.js" data-token="${share.token}" async></script>`
    const context = await browser.newContext({ locale: 'en' })
    const tab = await context.newPage()
    await tab.goto(own)
    await tab.getByRole('button', { name: 'Open chat' }).click()
    return {
      tab,
      put: (to: object) => call('PUT', `${at}/${share.id}`, to),
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

  test('the site opens, closes and asks in the chat, which has the look of the share', async () => {
    await using shop = await site((own) => [own])
    const { tab, put } = shop
    await put({ look: { color: '#aa3300', position: 'left', language: 'zh', title: '问我' } })
    await tab.reload()
    const bubble = tab.getByRole('button', { name: '打开对话' })
    await bubble.waitFor()
    expect(
      await bubble.evaluate((element) => {
        const { backgroundColor, left } = getComputedStyle(element)
        return [backgroundColor, left]
      }),
    ).toEqual(['rgb(170, 51, 0)', '16px'])
    upstream.reply({ text: '九点' })
    await tab.evaluate("window.moonbase.send('几点开门？')")
    const chat = tab.frameLocator('iframe[title="问我"]')
    await chat.locator('.reply').getByText('九点').waitFor()
    await chat.getByRole('heading', { name: '问我' }).waitFor()
    await tab.evaluate('window.moonbase.close()')
    await soon(() => tab.locator('iframe').isVisible(), false)
    await tab.evaluate('window.moonbase.open()')
    await soon(() => tab.locator('iframe').isVisible(), true)
  })

  test('a visitor is greeted, begins with a starter and rates the answer', async () => {
    const face = { icon: '🛒', greeting: 'Ask about orders', starters: ['When do you open?'] }
    const { share, call, at } = await startShare(app, {}, face)
    const context = await browser.newContext({ locale: 'en' })
    const tab = await context.newPage()
    await tab.goto(`${app.url}/s/${share.token}`)
    await tab.getByText('Ask about orders').waitFor()
    expect(await tab.locator('#icon').textContent()).toBe('🛒')
    upstream.reply({ text: `${'We open.\n\n'.repeat(60)}At nine` })
    await tab.getByRole('button', { name: 'When do you open?' }).click()
    await tab.locator('.reply').getByText('At nine').waitFor()
    const bad = tab.getByRole('button', { name: 'Bad answer' })
    await bad.waitFor()
    const below = ({ scrollHeight, scrollTop, clientHeight }: Element) =>
      scrollHeight - scrollTop - clientHeight
    await soon(async () => (await tab.locator('#talk').evaluate(below)) < 2, true)
    await bad.focus()
    await tab.keyboard.press('Enter')
    await tab.getByRole('combobox', { name: 'What was bad?' }).selectOption('wrong')
    const down = async () => {
      const { items } = (
        await call<{ items: { reason: string | null }[] }>('GET', '/console/feedback')
      ).json()
      return items[0]?.reason ?? null
    }
    await soon(down, 'wrong')
    expect(await seriousFindings(tab)).toEqual([])
    await tab.reload()
    expect(await bad.getAttribute('aria-pressed')).toBe('true')
    await call('PUT', `${at}/${share.id}`, { paused: true })
    await tab.reload()
    await tab.getByRole('alert').getByText('This chat is paused').waitFor()
    expect(await tab.getByText('This chat is paused').count()).toBe(1)
    expect(await tab.getByRole('textbox').isDisabled()).toBe(true)
    await call('DELETE', `${at}/${share.id}`)
    const ended = await tab.reload()
    await tab.getByRole('alert').getByText('This link no longer works').waitFor()
    expect(await tab.getByRole('textbox').isDisabled()).toBe(true)
    expect(await tab.getByText('Ask about orders').count()).toBe(0)
    expect(ended?.status()).toBe(404)
    await context.close()
  }, 60_000)

  test('a number in an answer opens what it stands for, also after a reload', async () => {
    const { share, call } = await startShare(app)
    const text = 'The guarantee lasts two years. Batteries are covered for six months.'
    await call('POST', '/console/kb/docs', { title: 'Guarantee', text })
    // As wide as a page of 1280 pixels at 400 %.
    const context = await browser.newContext({
      locale: 'en',
      viewport: { width: 320, height: 256 },
    })
    const tab = await context.newPage()
    await tab.goto(`${app.url}/s/${share.token}`)
    upstream.reply({ text: 'Batteries are covered for six months [1]. Nothing else [7].' })
    await tab.getByRole('main').getByLabel('Your question').fill(text)
    await tab.keyboard.press('Enter')
    const number = tab.getByRole('button', { name: 'Source 1: Guarantee' })
    const passage = tab.getByRole('dialog', { name: 'Guarantee' })
    const open = async () => {
      await number.focus()
      await tab.keyboard.press('Enter')
      await passage.waitFor()
    }
    await open()
    expect(await passage.locator('mark').textContent()).toContain('Batteries are covered')
    expect(await seriousFindings(tab)).toEqual([])
    await tab.keyboard.press('Escape')
    await soon(() => number.evaluate((one) => one === document.activeElement), true)
    expect(await tab.locator('.reply').textContent()).toContain('Nothing else [7].')
    await tab.locator('.sources').getByRole('button', { name: 'Guarantee' }).click()
    await passage.waitFor()
    await tab.keyboard.press('Escape')
    await passage.waitFor({ state: 'detached' })
    await tab.reload()
    await open()
    await passage.getByRole('button', { name: 'Close' }).click()
    await soon(() => passage.count(), 0)
    expect(await tab.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
    await context.close()
  }, 60_000)

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

    // What was stopped is told to a screen reader, until a new talk begins.
    const rest = Promise.withResolvers<void>()
    upstream.reply({ pieces: ['One', ' two'], hold: { after: 1, until: rest.promise } })
    await tab.getByRole('textbox').fill('Count')
    await tab.keyboard.press('Enter')
    await tab.locator('.reply').last().getByText('One').waitFor()
    await tab.getByRole('button', { name: 'Stop' }).press('Enter')
    await soon(() => tab.locator('#told').textContent(), 'Stopped')
    rest.resolve()
    await tab.getByRole('button', { name: 'New conversation' }).press('Enter')
    await soon(() => tab.locator('#told').textContent(), '')
    await context.close()
  }, 60_000)

  const MATRIX = String.raw`\begin{pmatrix} \frac{1}{2} & x^{2^n} \\ \sqrt{\frac{a}{b}} & 0`
  const FORMULA = String.raw`$$${MATRIX} \end{pmatrix}$$`
  const ALL = [
    '# Title\n\nWords with `code`, [1] and a [link](https://example.com).\n\n- [x] done\n\n',
    '| a | b |\n|---|--:|\n| 1 | 2 |\n\n```js\nconst a = 1\n```\n\n',
    `${FORMULA}\n\n\`\`\`mermaid\nflowchart LR\n  A[\u5f00\u59cb] --> B\n\`\`\`\n\n`,
    '```html\n<script>document.title = "ran"</script>\n```\n\n',
    '```svg\n<svg viewBox="0 0 9 9"><circle r="4"/></svg>\n```\n\nThe end.\n',
  ].join('')

  test('a visitor reads what the console shows, in few bytes, and no page is run', async () => {
    const { share } = await startShare(app)
    const context = await browser.newContext({ locale: 'en' })
    const tab = await context.newPage()
    await context.addInitScript(countIntervals)
    const client = await context.newCDPSession(tab)
    await client.send('Network.enable')
    let bytes = 0
    client.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength
    })
    await tab.goto(`${app.url}/s/${share.token}`)
    await tab.getByRole('button', { name: 'Send' }).waitFor()
    await tab.waitForLoadState('networkidle')
    expect(bytes).toBeLessThan(120 * 1024)
    upstream.reply({ pieces: [ALL] })
    await tab.getByRole('textbox').fill('Show me all')
    await tab.keyboard.press('Enter')
    await tab.getByText('The end.', { exact: true }).waitFor()
    const drawn = tab.locator('.artifact[data-kind=mermaid]').frameLocator('iframe')
    await drawn.getByText('\u5f00\u59cb').first().waitFor()
    await tab.locator('.artifact[data-kind=svg] img').waitFor()
    await tab.locator('.reply math').first().waitFor()
    await tab.locator('.reply .hljs-keyword').first().waitFor()
    expect(await tab.locator('.reply table').count()).toBe(1)
    expect(await tab.locator('.artifact').count()).toBe(2)
    expect(await tab.getByRole('button', { name: 'Run' }).count()).toBe(0)
    await soon(() => tab.evaluate(() => document.fonts.check('16px "Latin Modern Math"')), true)
    expect(await seriousFindings(tab)).toEqual([])

    // The frame of a drawing is asked now and then, for as long as it stands there.
    const asking = () => tab.evaluate(() => (window as unknown as Counting).intervals.size)
    expect(await asking()).toBe(1)
    await tab.getByRole('button', { name: 'New conversation' }).click()
    expect(await asking()).toBe(0)
    await context.close()
  }, 60_000)

  test('inside the widget on another site drawings stay code', async () => {
    await using shop = await site((own) => [own])
    const chat = shop.tab.frameLocator('iframe')
    upstream.reply({ pieces: ['```mermaid\nflowchart LR\n  A --> B\n```\n\nThe end.'] })
    await chat.getByRole('textbox').fill('Draw')
    await chat.getByRole('button', { name: 'Send' }).click()
    await chat.getByText('The end.', { exact: true }).waitFor()
    expect(await chat.locator('pre').textContent()).toContain('flowchart')
    expect(await chat.locator('.artifact').count()).toBe(0)
  }, 60_000)
})
