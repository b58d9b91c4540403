import { expect, test } from 'bun:test'
import { en } from '../../web/i18n/en.ts'
import { caller } from '../support/api.ts'
import { seriousFindings } from '../support/axe.ts'
import { visit } from '../support/chromium.ts'
import { signIn } from '../support/login.ts'
import { describeWeb, soon, useConsole } from './setup.ts'

describeWeb('names that people read', () => {
  const at = useConsole()

  test('the audit is narrowed to a person and a kind, and says what was changed', async () => {
    const session = await signIn(at.app, 'boss@example.com')
    const call = caller(`${at.app.url}/console`, session.headers)
    await call('PUT', '/settings', {})
    await call('POST', '/personas', { name: 'Kind one', prompt: 'p' })
    await using guest = await visit(at.browser, at.app.url, { language: 'en' }, session)
    const { page, complaints } = guest
    await page.goto('/app/audit')
    const rows = page.locator('tbody tr')
    const first = rows.filter({ hasText: en['audit.action.settings.update'] })
    await first.getByRole('link', { name: en['audit.kind.settings'] }).waitFor()
    expect(await rows.count()).toBe(2)
    await page.getByLabel(en['audit.kind']).selectOption({ label: en['audit.kind.persona'] })
    await soon(() => rows.allInnerTexts().then((all) => all.length), 1)
    await rows.getByText('Kind one').waitFor()
    await page.getByLabel(en['audit.who']).selectOption('boss@example.com')
    await page.waitForURL(/actor=boss.*action=persona/)
    await page.reload()
    await rows.getByText('Kind one').waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await page.getByLabel(en['audit.kind']).selectOption({ label: en['audit.kind.webhook'] })
    await page.getByText(en['audit.none'], { exact: true }).waitFor()
    await page.getByRole('button', { name: en['logs.clear'] }).click()
    await soon(() => rows.count(), 2)
    expect(complaints).toEqual([])
  }, 60_000)

  test('the effective settings of an app name its tools as people do', async () => {
    const session = await signIn(at.app, 'boss@example.com')
    const call = caller(`${at.app.url}/console`, session.headers)
    const app = { name: 'Shop', tools_enabled: ['calculator', 'fetch_url'] }
    const { id } = (await call<{ id: string }>('POST', '/apps', app)).json()
    await using guest = await visit(at.browser, at.app.url, { language: 'en' }, session)
    await guest.page.goto(`/app/apps/${id}`)
    const effective = guest.page.getByRole('complementary', { name: en['preview.title'] })
    await effective.getByText('Calculator, Read a page').waitFor()
  }, 60_000)
})
