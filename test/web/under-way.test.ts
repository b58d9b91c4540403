import { beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { en } from '../../web/i18n/en.ts'
import { caller } from '../support/api.ts'
import { visit } from '../support/chromium.ts'
import { type SignedIn, signIn } from '../support/login.ts'
import { BUILD_MS, describeWeb, soon, useConsole } from './setup.ts'

const HOUR_MS = 3_600_000
const inHours = (hours: number) => new Date(Date.now() + hours * HOUR_MS).toISOString()

/** What the server says while something is under way, which no test can wait for. */
const says = (page: Page, path: string, answer: () => object) =>
  page.route(path, (route) => route.fulfill({ json: answer() }))

describeWeb('what is under way', () => {
  const at = useConsole()
  let session: SignedIn
  beforeAll(async () => {
    session = await signIn(at.app, 'boss@example.com')
  }, BUILD_MS)
  const open = () => visit(at.browser, at.app.url, { language: 'en' }, session)

  test('a backup that is being made, the next one and those that failed are told', async () => {
    await using guest = await open()
    const { page } = guest
    const last = { at: inHours(-2.1), bytes: 2 * 1024 * 1024, ok: true, error_class: null }
    const state = { place: '/backups', last: null as object | null, next_at: null as string | null }
    await says(page, '**/console/system/backups', () => ({ ...state, kept: [] }))
    const asked: string[] = []
    page.on('request', (one) => void (one.method() === 'POST' && asked.push(one.url())))
    await page.goto('/app/system/limits')
    await page.getByText(en['backups.busy'], { exact: true }).waitFor()
    await page.getByText(en['backups.waiting'], { exact: true }).waitFor()
    Object.assign(state, { last, next_at: inHours(3.1) })
    await page.reload()
    await page.getByText(`${en['backups.next']} in 3 hours`).waitFor()
    await page.getByText(`${en['backups.last']} 2 hours ago (2 MB)`).waitFor()
    Object.assign(state, { next_at: inHours(0.005) })
    await page.reload()
    await page.getByText(en['backups.soon'], { exact: true }).waitFor()
    Object.assign(state, { last: { ...last, ok: false, error_class: 'refuses_login' } })
    await page.reload()
    const why = en['backups.class.refuses_login']
    await page.getByText(`${en['backups.failed.at']} 2 hours ago · ${why}`).waitFor()
    // Whoever asks for one hears how it ends, and before that nothing good.
    Object.assign(state, { next_at: null })
    await page.getByRole('button', { name: en['backups.now'] }).click()
    await page.getByText(en['backups.busy'], { exact: true }).waitFor()
    const told = page.getByRole('region', { name: en['state.messages'] })
    expect(await told.textContent()).toBe('')
    Object.assign(state, { next_at: inHours(1) })
    await told.getByText(en['backups.unmade'].replace('{why}', why)).waitFor()
    await soon(async () => asked.some((url) => url.endsWith('/console/system/backups')), true)
  }, 60_000)

  test('a delivery says when it is tried again, but not that it is now', async () => {
    const call = caller(`${at.app.url}/console`, session.headers)
    const hook = { name: 'Shop', url: 'https://example.com/hook', events: ['run.done'] }
    expect((await call('POST', '/webhooks', hook)).status).toBe(201)
    await using guest = await open()
    const { page } = guest
    const row = { event: 'run.done', at: inHours(-1.1), status: 503, tries: 2, state: 'waiting' }
    const state = { next_at: inHours(2.1) }
    await says(page, '**/console/webhooks/*/deliveries', () => ({
      deliveries: [{ id: '1', ...row, ...state }],
    }))
    await page.goto('/app/webhooks')
    const show = () => page.getByRole('button', { name: en['hooks.deliveries'] }).click()
    await show()
    const entry = page.getByRole('dialog').getByRole('listitem')
    const tried = en['hooks.tries'].replace('{tries}', '2').replace('{status}', '503')
    await entry.getByText(`${tried} · ${en['hooks.again']} in 2 hours · 1 hour ago`).waitFor()
    state.next_at = inHours(0.016)
    await page.reload()
    await show()
    await entry.getByText(`${tried} · 1 hour ago`).waitFor()
    expect(await entry.textContent()).not.toContain(en['hooks.again'])
  }, 60_000)

  test('a file of a talk that was not read is read again while it is kept', async () => {
    await using guest = await open()
    const { page } = guest
    const state = { state: 'failed', error: 'broken', error_class: 'timeout' }
    const again: string[] = []
    await page.route('**/console/files/**', async (route) => {
      if (route.request().method() === 'DELETE') return route.fallback()
      if (route.request().url().endsWith('/refresh')) {
        again.push(route.request().method())
        Object.assign(state, { state: 'ready', error: null, error_class: null })
      }
      const file = { bytes: 5, readable_until: inHours(1), ...state }
      const id = new URL(route.request().url()).pathname.split('/')[3]
      return route.fulfill({ json: { id, name: 'notes.txt', ...file } })
    })
    await page.goto('/app')
    const notes = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('notes') }
    await page.locator('form.composer input[type=file]').setInputFiles([notes])
    const button = page.getByRole('button', {
      name: en['studio.attached.again'].replace('{name}', 'notes.txt'),
    })
    await button.click()
    await button.waitFor({ state: 'detached' })
    expect(again).toEqual(['POST'])
    const card = page.getByRole('list', { name: en['studio.attached'] }).getByText('notes.txt')
    await card.waitFor()
    expect(await page.locator('.attachment [role=alert]').count()).toBe(0)
  }, 60_000)
})
