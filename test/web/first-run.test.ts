import { expect, test } from 'bun:test'
import { en } from '../../web/i18n/en.ts'
import { seriousFindings } from '../support/axe.ts'
import { visit } from '../support/chromium.ts'
import { codesFor } from '../support/login.ts'
import { startUpstream } from '../support/upstream.ts'
import { describeWeb, soon, useConsole } from './setup.ts'

const found = { baseUrl: '' }

/** An Ollama on this machine, which a scripted upstream is. */
const withOllama = (input: string | URL | Request, init?: RequestInit) => {
  const url = String(input instanceof Request ? input.url : input)
  const isLocal = url.startsWith('http://127.0.0.1:11434/')
  if (isLocal && url.endsWith('/models'))
    return Promise.resolve(Response.json({ data: [{ id: 'fake' }] }))
  return fetch(isLocal ? url.replace('http://127.0.0.1:11434/v1', found.baseUrl) : input, init)
}

describeWeb('the first minute', () => {
  const at = useConsole({ fetch: withOllama as typeof fetch })

  test('a model answers after one field and at most four clicks', async () => {
    const upstream = await startUpstream()
    upstream.reply({ text: 'from the first model' })
    found.baseUrl = upstream.baseUrl
    await using guest = await visit(at.browser, at.app.url, { language: 'en' })
    const { page, complaints } = guest
    let clicks = 0
    const click = async (name: string) => {
      clicks++
      await page.getByRole('button', { name, exact: true }).click()
    }
    await page.goto('/')
    await page.getByRole('textbox', { name: en['login.email'] }).fill('first@example.com')
    await click(en['login.send'])
    const code = await at.app.printed.until(
      (text) => codesFor('first@example.com', text)[0] ?? null,
    )
    // The code of the terminal is typed without a click and signs in by itself.
    const field = page.getByRole('textbox', { name: en['login.code'] })
    await soon(() => field.evaluate((one) => one === document.activeElement), true)
    await page.keyboard.type(code)
    await page.getByRole('heading', { level: 1, name: en['welcome.title'] }).waitFor()
    await page.getByRole('button', { name: 'DeepSeek', exact: true }).waitFor()
    const door = page.getByRole('navigation', { name: en['nav.doors'] }).locator('[aria-current]')
    expect(await door.textContent()).toBe(en['nav.server'])
    expect(await seriousFindings(page)).toEqual([])
    await click('Use Ollama')
    await page.waitForURL(/\/app$/)
    await page.getByPlaceholder(en['studio.ask']).fill('hi')
    await page.keyboard.press('Enter')
    await page.getByText('from the first model').first().waitFor()
    expect(clicks).toBeLessThanOrEqual(4)
    expect(upstream.requests.length).toBeGreaterThan(0)
    expect(complaints).toEqual([])
    await upstream.stop()
  }, 60_000)
})
