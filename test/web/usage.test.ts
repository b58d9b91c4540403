import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { en } from '../../web/i18n/en.ts'
import { caller } from '../support/api.ts'
import { seriousFindings } from '../support/axe.ts'
import { visit } from '../support/chromium.ts'
import { type SignedIn, signIn } from '../support/login.ts'
import { startUpstream } from '../support/upstream.ts'
import { describeWeb, useConsole } from './setup.ts'
import { ask, ended, openWhy } from './studio-page.ts'

const upstream = await startUpstream()
afterAll(upstream.stop)

/** A text of the console with its values. */
const say = (text: string, values: Readonly<Record<string, string | number>> = {}) =>
  text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]))
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

describeWeb('keys, budgets and usage', () => {
  const at = useConsole({ upstream: upstream.baseUrl })
  let session: SignedIn
  beforeAll(async () => {
    session = await signIn(at.app, 'ada@example.com')
  })

  test('a key is named, tried, limited, and its tokens are shown and saved', async () => {
    await using guest = await visit(at.browser, at.app.url, { language: 'en' }, session)
    const { page } = guest
    await page.goto('/app/devices')
    await page.getByRole('link', { name: en['nav.keys'], exact: true }).click()
    await press(page, en['keys.new'])
    await page.getByLabel(en['keys.name']).fill('Kitchen')
    await page.getByLabel(en['keys.tokens']).fill('1,000')
    await press(page, en['keys.create'])
    const key = (await page.getByTestId('secret').textContent()) ?? ''
    // The way back would lose it for ever, so it asks first.
    await page.goBack()
    await page.getByRole('alertdialog').getByText(en['secret.leave']).waitFor()
    await page.getByRole('alertdialog').getByRole('button', { name: en['action.cancel'] }).click()
    expect(await page.getByTestId('secret').textContent()).toBe(key)
    await press(page, en['secret.kept'])

    // The code to copy has the key, and the key works from here.
    await page.getByRole('tab', { name: 'Python' }).click()
    await page.locator('pre', { hasText: `api_key="${key}"` }).waitFor()
    await page.locator('pre', { hasText: `base_url="${at.app.url}/v1"` }).waitFor()
    upstream.reply({ text: 'Hello from the kitchen', usage: { input: 600, output: 5 } })
    await press(page, en['connect.try.send'])
    await page.getByText('Hello from the kitchen').waitFor()
    await page.getByText(/600 tokens in, 5 tokens out/).waitFor()
    expect(await seriousFindings(page)).toEqual([])

    const row = page.getByRole('row', { name: /Kitchen/ })
    await row.getByText(say(en['keys.tokens.spent'], { spent: 605, all: '1,000' })).waitFor()
    await row.getByText(say(en['keys.calls'], { count: 1 })).waitFor()
    await row.filter({ hasText: key.slice(-4) }).waitFor()

    // The budget is lowered to what was spent.
    await row.getByRole('button', { name: en['keys.edit'] }).click()
    await page.getByLabel(en['keys.tokens']).fill('605')
    await press(page, en['action.save'])
    await row.getByText(say(en['keys.tokens.spent'], { spent: 605, all: 605 })).waitFor()
    await press(page, en['connect.try.send'])
    await page.getByText(/today is spent; the next day begins at midnight UTC/).waitFor()

    await page.goto('/app/settings')
    await page.getByLabel(en['settings.price.in']).fill('10')
    await press(page, en['action.save'])
    await page.getByText(en['settings.saved']).waitFor()
    await page.goto('/app/usage')
    await page
      .getByText(say(en['usage.in.out'], { input: 600, output: 5 }))
      .first()
      .waitFor()
    await page
      .getByRole('row', { name: /Kitchen/ })
      .getByText('0.0060')
      .waitFor()
    expect(await seriousFindings(page)).toEqual([])
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      press(page, en['usage.csv']),
    ])
    expect(download.suggestedFilename()).toMatch(/^moonbase-usage-\d{4}-\d\d-\d\d\.csv$/)
    expect(await Bun.file(await download.path()).text()).toContain(',Kitchen,1,600,5\r\n')

    // A key without a name stands there by what it is for.
    const owner = caller(`${at.app.url}/console`, session.headers)
    const { id } = (await owner<{ id: string }>('POST', '/apps', { name: 'Till' })).json()
    const till = (await owner<{ key: string }>('POST', `/apps/${id}/keys`, {})).json()
    await fetch(`${at.app.url}/v1/agent`, {
      method: 'POST',
      headers: { authorization: `Bearer ${till.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ text: 'Is it open?', session_id: 'till' }),
    }).then((answer) => answer.text())
    await page.reload()
    await page.getByText(say(en['keys.scope.app'], { name: 'Till' })).waitFor()
    expect(guest.complaints.filter((complaint) => !complaint.includes('429'))).toEqual([])
  }, 60_000)

  test('a long list of keys is shown piece by piece', async () => {
    for (let i = 0; i < 101; i++) await at.app.key('many@example.com', { name: `key ${i}` })
    const many = await signIn(at.app, 'many@example.com')
    await using guest = await visit(at.browser, at.app.url, { language: 'en' }, many)
    const { page } = guest
    await page.goto('/app/keys')
    await page.getByText('key 100', { exact: true }).waitFor()
    expect(await page.getByText('key 0', { exact: true }).count()).toBe(0)
    await press(page, say(en['list.more'], { shown: 100, all: 101 }))
    await page.getByText('key 0', { exact: true }).waitFor()
  }, 60_000)

  test('the studio shows the tokens of a turn', async () => {
    await using guest = await visit(at.browser, at.app.url, { language: 'en' }, session)
    const { page } = guest
    await page.goto('/app')
    upstream.reply({ text: 'told', usage: { input: 1_200, output: 34 } })
    upstream.reply({ text: 'not told', usage: null })
    for (const [reply, words] of [
      ['told', '1,200 tokens in, 34 out'],
      ['not told', /about \d+ tokens in, 2 out/],
    ] as const) {
      const turn = await ask(page, `Was it ${reply}?`)
      await ended(turn)
      await turn.getByText(reply, { exact: true }).waitFor()
      await openWhy(turn)
      const why = page.getByRole('complementary', { name: en['studio.right'] })
      await why.getByText(words).waitFor()
    }
    expect(guest.complaints).toEqual([])
  }, 60_000)
})
