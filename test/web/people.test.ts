import { beforeAll, expect, test } from 'bun:test'
import { en } from '../../web/i18n/en.ts'
import { caller } from '../support/api.ts'
import { seriousFindings } from '../support/axe.ts'
import { visit } from '../support/chromium.ts'
import { type SignedIn, signIn } from '../support/login.ts'
import { describeWeb, useConsole } from './setup.ts'
import { ask, ended, field } from './studio-page.ts'

describeWeb('people and their workspaces', () => {
  const at = useConsole()
  let owner: SignedIn
  beforeAll(async () => {
    owner = await signIn(at.app, 'ada@example.com')
  })
  const look = { language: 'en' } as const
  const inviteFor = (email: string) =>
    caller(at.app.url, owner.headers)('POST', '/console/members', { email, role: 'editor' })

  test('a person accepts an invitation and goes to the workspace', async () => {
    const guest = await signIn(at.app, 'guest@example.com')
    await inviteFor('guest@example.com')
    await using window = await visit(at.browser, at.app.url, look, guest)
    const { page } = window
    await page.goto('/app')
    await page.getByRole('link', { name: 'Invitations (1)' }).click()
    await page.getByText('ada@example.com invites you as Editor').waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await page.getByRole('button', { name: `${en['invitations.accept']} ada` }).click()
    await page.getByRole('button', { name: 'Go to “ada”' }).click()
    await page.waitForURL(/\/app$/)
    await page.goto('/app/members')
    await page.getByText(/Your role is: Editor/).waitFor()
    expect(window.complaints).toEqual([])
  }, 60_000)

  test('a window does not save into the workspace that another window went to', async () => {
    const guest = await signIn(at.app, 'windows@example.com')
    await inviteFor('windows@example.com')
    await using window = await visit(at.browser, at.app.url, look, guest)
    const { page } = window
    await page.goto('/app/apps/new')
    await page.getByLabel(en['field.name']).fill('Mine')
    const tenant_id = owner.me.tenant_id
    const headers = { ...guest.headers, 'content-type': 'application/json' }
    const body = JSON.stringify({ tenant_id })
    const moved = await fetch(`${at.app.url}/auth/tenant`, { method: 'POST', headers, body })
    expect(moved.status).toBe(200)
    await page.getByRole('button', { name: en['apps.create'], exact: true }).click()
    await page.getByRole('button', { name: en['moved.reload'] }).waitFor()
    expect(await seriousFindings(page)).toEqual([])
    const there = await caller(at.app.url, owner.headers)('GET', '/console/apps')
    expect(there.json()).toEqual({ apps: [] })
    expect(window.complaints).toEqual([])
  }, 60_000)

  test('a member who is removed is told so, and keeps what was typed', async () => {
    const guest = await signIn(at.app, 'gone@example.com')
    const { id } = (await inviteFor('gone@example.com')).json() as { id: string }
    const theirs = caller(at.app.url, guest.headers)
    await theirs('POST', `/auth/invitations/${id}/accept`)
    await theirs('POST', '/auth/tenant', { tenant_id: owner.me.tenant_id })
    await using window = await visit(at.browser, at.app.url, look, guest)
    const { page } = window
    await page.goto('/app')
    await ended(await ask(page, 'Am I one of you?'))
    await field(page).fill('Half a thought')
    await caller(at.app.url, owner.headers)('DELETE', `/console/members/${id}`)
    // As the window is looked at again.
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
    await page.getByText(en['moved.text']).waitFor()
    expect(await field(page).inputValue()).toBe('Half a thought')
    await page.getByRole('button', { name: en['moved.reload'] }).click()
    await page.getByText(en['studio.empty'], { exact: true }).waitFor()
    expect(await field(page).inputValue()).toBe('Half a thought')
    expect(window.complaints).toEqual([])
  }, 60_000)

  test('a native app gets a code when its page was allowed', async () => {
    const query = new URLSearchParams({
      code_challenge: 'x'.repeat(43),
      ...{ code_challenge_method: 'S256', app_scheme: 'moonbase' },
    })
    await using window = await visit(at.browser, at.app.url, look, owner)
    const { page } = window
    await page.goto(`/auth/native/authorize?${query}`)
    expect(await seriousFindings(page)).toEqual([])
    const sent = page.waitForResponse((response) => response.request().method() === 'POST')
    await page.getByRole('button', { name: 'Allow', exact: true }).click()
    const { location } = (await sent).headers()
    expect(location).toStartWith('moonbase://auth/callback?code=')
    expect(window.complaints).toEqual([])
  }, 60_000)

  test('a person signs out everywhere', async () => {
    const elsewhere = await signIn(at.app, 'twice@example.com')
    const here = await signIn(at.app, 'twice@example.com')
    await using window = await visit(at.browser, at.app.url, look, here)
    const { page } = window
    await page.goto('/app')
    await page.getByRole('button', { name: en['user.menu'] }).click()
    await page.getByRole('menuitem', { name: en['user.logout.all'] }).click()
    const dialog = page.getByRole('alertdialog')
    await dialog.getByRole('button', { name: en['user.logout.all'] }).click()
    await page.waitForURL(/\/login/)
    const { headers } = elsewhere
    expect((await fetch(`${at.app.url}/auth/me`, { headers })).status).toBe(401)
  }, 60_000)
})
