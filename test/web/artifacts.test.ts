import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { en } from '../../web/i18n/en.ts'
import { seriousFindings } from '../support/axe.ts'
import { describeWeb, soon } from './setup.ts'
import { ask, ended, useStudio } from './studio-page.ts'

const fenced = (language: string, text: string) => `\`\`\`${language}\n${text}\n\`\`\`\n\n`
const FLOW = 'flowchart LR\n  A[开始] --> B{有票?}\n  B -->|是| C[上车]\n  B -->|否| D[买票]'
const CHART = JSON.stringify({
  $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
  data: {
    values: [
      { a: 'x', b: 3 },
      { a: 'y', b: 5 },
    ],
  },
  transform: [{ calculate: 'datum.b * 2', as: 'c' }],
  mark: 'bar',
  encoding: { x: { field: 'a' }, y: { field: 'c', type: 'quantitative' } },
})
const DOT =
  '<svg viewBox="0 0 20 20"><circle cx="10" cy="10" r="9"/><script>alert(1)</script></svg>'
const PAGE = `<!doctype html><h1>Counter</h1><button id="b">0</button>
<script>
  let n = 0
  document.getElementById('b').addEventListener('click', (e) => { e.target.textContent = ++n })
  const held = []
  try { held.push(document.cookie) } catch { held.push('no cookies') }
  try { held.push(localStorage.length) } catch { held.push('no storage') }
  try { held.push(parent.document.title) } catch { held.push('no parent') }
  document.body.append(held.join(', '))
</script>`

describeWeb('what an answer draws', () => {
  const at = useStudio()

  async function answered(page: Page, question: string, text: string) {
    at.world.platform.reply({ pieces: [text] })
    const turn = await ask(page, question)
    await ended(turn)
    return turn
  }

  test('drawings stand in place, in Chinese, too, and their code can be shown', async () => {
    await using guest = await at.open()
    const { page } = guest
    const asked: string[] = []
    page.on('request', (request) => {
      const { protocol, host } = new URL(request.url())
      if (protocol.startsWith('http')) asked.push(host)
    })
    const turn = await answered(
      page,
      'Draw all kinds',
      fenced('mermaid', FLOW) + fenced('vega-lite', CHART) + fenced('svg', DOT) + fenced('js', '1'),
    )
    const flow = turn.locator('.artifact[data-kind=mermaid]')
    await flow.frameLocator('iframe').getByText('开始').first().waitFor()
    const chart = turn.locator('.artifact[data-kind=vega-lite]')
    await chart.frameLocator('iframe').locator('svg path').first().waitFor()
    const dot = turn.locator('.artifact[data-kind=svg] img')
    await soon(() => dot.evaluate((image: HTMLImageElement) => image.complete), true)
    expect(await dot.getAttribute('src')).toStartWith('data:image/svg+xml')
    expect(await turn.locator('iframe').count()).toBe(2)
    for (const frame of await turn.locator('iframe').all()) {
      expect(await frame.getAttribute('sandbox')).toBe('allow-scripts')
      expect(await frame.getAttribute('allow')).toBeNull()
    }
    const code = flow.getByRole('button', { name: en['draw.code'] })
    expect(await flow.locator('pre').isVisible()).toBe(false)
    await code.click()
    expect(await flow.locator('pre').textContent()).toBe(FLOW)
    await code.click()
    for (const kind of [flow, chart, turn.locator('.artifact[data-kind=svg]')]) {
      for (const name of [en['draw.svg'], en['draw.png'], en['code.download']]) {
        const saved = page.waitForEvent('download')
        await kind.getByRole('button', { name }).click()
        await (await saved).path()
      }
    }
    expect(new Set(asked)).toEqual(new Set([new URL(page.url()).host]))
    expect(await seriousFindings(page)).toEqual([])
  }, 90_000)

  test('a page runs after a click, without cookies, storage or the page around it', async () => {
    await using guest = await at.open()
    const { page } = guest
    const turn = await answered(page, 'Write a page', fenced('html', PAGE))
    const block = turn.locator('.artifact')
    expect(await turn.locator('iframe').count()).toBe(0)
    await block.getByRole('button', { name: en['draw.run'] }).click()
    const inside = block.frameLocator('iframe')
    await inside.getByRole('button', { name: '0' }).click()
    await inside.getByRole('button', { name: '1' }).waitFor()
    await inside.getByText('no cookies, no storage, no parent').waitFor()
    await block.getByRole('button', { name: en['draw.stop'] }).click()
    await soon(() => turn.locator('iframe').count(), 0)
    expect(await block.locator('pre').isVisible()).toBe(true)
  }, 60_000)

  test('a drawing that fails shows its code and one line', async () => {
    await using guest = await at.open()
    const far = JSON.stringify({ data: { url: 'https://far.example/x.csv' }, mark: 'bar' })
    const text = fenced('mermaid', 'flowchart LR\n  A --') + fenced('vega-lite', far)
    const turn = await answered(guest.page, 'Draw wrongly', text)
    for (const kind of ['mermaid', 'vega-lite']) {
      const block = turn.locator(`.artifact[data-kind=${kind}]`)
      await block.locator('.artifact-line').waitFor()
      expect(await block.locator('pre').isVisible()).toBe(true)
      expect(await block.locator('iframe').count()).toBe(0)
    }
  }, 60_000)

  test('a page that never answers is stopped and says so, and the console goes on', async () => {
    await using guest = await at.open()
    const text = fenced('html', '<p>on</p><script>setTimeout(() => { for (;;); }, 100)</script>')
    const turn = await answered(guest.page, 'Write a loop', text)
    await turn.getByRole('button', { name: en['draw.run'] }).click()
    await turn.getByText(en['draw.silent']).waitFor()
    expect(await turn.locator('iframe').count()).toBe(0)
  }, 60_000)

  test('eight frames live, large drawings wait, and what is larger still is code', async () => {
    await using guest = await at.open()
    const { page } = guest
    const large = `flowchart LR\n  A --> B\n%% ${'x'.repeat(64 * 1024)}`
    const huge = `<p>${'x'.repeat(512 * 1024)}</p>`
    const pages = Array.from({ length: 9 }, (_, n) => fenced('html', `<p>page ${n}</p>`)).join('')
    const turn = await answered(
      page,
      'Write many',
      pages + fenced('mermaid', large) + fenced('html', huge),
    )
    await soon(() => turn.locator('.artifact').count(), 10)
    const waits = turn.locator('.artifact').nth(9)
    expect(await waits.locator('iframe').count()).toBe(0)
    for (let n = 0; n < 9; n += 1) {
      await turn.getByRole('button', { name: en['draw.run'] }).first().click()
    }
    await soon(() => turn.locator('iframe').count(), 8)
    await waits.getByRole('button', { name: en['draw.draw'] }).click()
    await waits.frameLocator('iframe').locator('svg').waitFor()
    expect(await turn.locator('iframe').count()).toBe(8)
  }, 60_000)
})
