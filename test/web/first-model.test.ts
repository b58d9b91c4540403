import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { en } from '../../web/i18n/en.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { launch, visit } from '../support/chromium.ts'
import { installModelPack } from '../support/llama-server.ts'
import { codesFor } from '../support/login.ts'
import { tempFolder } from '../support/temp.ts'
import { startUpstream } from '../support/upstream.ts'
import { buildConsole, describeWeb, soon } from './setup.ts'

/** Clicks of somebody who opens a new server for the first time. */
async function firstVisit(app: TestApp, page: Page) {
  const counted = { clicks: 0 }
  const click = async (name: string) => {
    counted.clicks++
    await page.getByRole('button', { name, exact: true }).click()
  }
  await page.goto('/')
  await page.getByRole('textbox', { name: en['login.email'] }).fill('first@example.com')
  await click(en['login.send'])
  const code = await app.printed.until((text) => codesFor('first@example.com', text)[0] ?? null)
  const field = page.getByRole('textbox', { name: en['login.code'] })
  await soon(() => field.evaluate((one) => one === document.activeElement), true)
  await page.keyboard.type(code)
  return { counted, click }
}

async function answers(page: Page, text: string) {
  await page.getByPlaceholder(en['studio.ask']).fill('hi')
  await page.keyboard.press('Enter')
  await page.getByText(text).first().waitFor()
}

describeWeb('the first model', () => {
  test('of a service answers after its key was pasted, and four clicks', async () => {
    await buildConsole()
    const upstream = await startUpstream()
    upstream.chat.always({ text: 'from the service' })
    const SERVICE = 'https://api.deepseek.com/v1'
    const listed = ['text-embedding-3', 'fake']
    const asked: (string | null)[] = []
    const onService = (input: string | URL | Request, init?: RequestInit) => {
      const url = String(input instanceof Request ? input.url : input)
      if (url === `${SERVICE}/models`) {
        asked.push(new Headers(init?.headers).get('authorization'))
        return Promise.resolve(Response.json({ data: listed.map((id) => ({ id })) }))
      }
      return fetch(url.startsWith(SERVICE) ? url.replace(SERVICE, upstream.baseUrl) : input, init)
    }
    await using app = await startApp({ fetch: onService as typeof fetch })
    const browser = await launch()
    await using guest = await visit(browser, app.url, { language: 'en' })
    const { page, complaints } = guest
    const { counted, click } = await firstVisit(app, page)
    await click('DeepSeek')
    const key = page.getByLabel(en['providers.key'].replace('{name}', 'DeepSeek'))
    await soon(() => key.evaluate((one) => one === document.activeElement), true)
    await page.keyboard.insertText('sk-of-another-server')
    await soon(async () => asked.length, 1)
    // Over the one before, and of its length.
    await key.selectText()
    await page.keyboard.insertText('sk-0123456789abcdefg')
    const model = page.getByLabel(en['system.kind.MODEL'], { exact: true })
    await soon(() => model.last().inputValue(), 'fake')
    expect(asked).toEqual(['Bearer sk-of-another-server', 'Bearer sk-0123456789abcdefg'])
    await click(en['providers.use'])
    await page.waitForURL(/\/app$/)
    await answers(page, 'from the service')
    expect(counted.clicks).toBeLessThanOrEqual(3)
    expect(complaints).toEqual([])
    await browser.close()
    await upstream.stop()
  }, 120_000)

  test('of an address that nobody lists answers by its own list', async () => {
    await buildConsole()
    const upstream = await startUpstream()
    upstream.chat.always({ text: 'from the address' })
    await using app = await startApp()
    const browser = await launch()
    await using guest = await visit(browser, app.url, { language: 'en' })
    const { page, complaints } = guest
    const { click } = await firstVisit(app, page)
    await page.getByRole('link', { name: en['welcome.later'] }).waitFor()
    await click(en['providers.other'])
    const address = page.getByLabel(en['system.kind.BASE_URL'], { exact: true })
    await soon(() => address.evaluate((one) => one === document.activeElement), true)
    await page.keyboard.insertText(upstream.baseUrl)
    await page.keyboard.press('Enter')
    const model = page.getByLabel(en['system.kind.MODEL'], { exact: true })
    await soon(() => model.inputValue(), 'fake')
    await address.fill(`${upstream.baseUrl}/elsewhere`)
    await soon(() => model.count(), 0)
    await address.fill(`${upstream.baseUrl}/chat/completions`)
    await page.keyboard.press('Enter')
    await soon(() => address.inputValue(), upstream.baseUrl)
    upstream.fault(404)
    await click(en['providers.use'])
    await page.getByText(en['providers.unanswered']).waitFor()
    await page.getByText(en['trial.path']).waitFor()
    expect(new URL(page.url()).pathname).toBe('/app/welcome')
    await click(en['providers.use'])
    await page.waitForURL(/\/app$/)
    await answers(page, 'from the address')
    upstream.fault(404)
    await page.getByPlaceholder(en['studio.ask']).fill('and now?')
    await page.keyboard.press('Enter')
    await page.getByText(en['studio.unsaved']).waitFor()
    await page.goto('/app/system')
    await page.getByText(en['overview.model.failing']).waitFor()
    expect(complaints).toEqual([])
    await browser.close()
    await upstream.stop()
  }, 120_000)

  test('of a file that lies in its folder answers whom signs in', async () => {
    await buildConsole()
    using folder = tempFolder()
    installModelPack(folder.path, ['moon-7b.gguf'])
    await using app = await startApp({ dataDir: folder.path })
    const browser = await launch()
    await using guest = await visit(browser, app.url, { language: 'en' })
    const { counted } = await firstVisit(app, guest.page)
    await answers(guest.page, 'the pack heard hi')
    expect(counted.clicks).toBe(1)
    expect(guest.complaints).toEqual([])
    await browser.close()
  }, 120_000)
})
