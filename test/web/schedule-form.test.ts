import { expect, test } from 'bun:test'
import type { Schedule } from '../../src/features/runs/model.ts'
import { en } from '../../web/i18n/en.ts'
import { caller } from '../support/api.ts'
import { visit } from '../support/chromium.ts'
import { signIn } from '../support/login.ts'
import { startMcpServer } from '../support/mcp-server.ts'
import { make } from '../support/webhooks.ts'
import { describeWeb, useConsole } from './setup.ts'

describeWeb('the form of a schedule', () => {
  const at = useConsole({ env: { MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1' } })

  test('saves webhooks, model calls and tools that need not ask', async () => {
    using server = startMcpServer()
    server.lists([{ name: 'lamp', inputSchema: { type: 'object' } }])
    const session = await signIn(at.app, 'form@example.com')
    const call = caller(`${at.app.url}/console`, session.headers)
    const runs = await make(call, 'https://a.example.com/', { name: 'Phone', events: ['run.done'] })
    await make(call, 'https://b.example.com/', { name: 'Wall' })
    const made = await call<{ id: string }>('POST', '/mcp-servers', {
      ...{ name: 'home', url: server.url },
    })
    const tools = { approved: ['lamp'], ask: ['lamp'] }
    const kept = await call('PUT', `/mcp-servers/${made.json().id}/tools`, tools)
    expect(kept.status).toBe(200)
    await using visited = await visit(at.browser, at.app.url, { language: 'en' }, session)
    const { page } = visited
    await page.goto('/app/schedules')
    await page.getByRole('button', { name: 'New schedule' }).first().click()
    const form = page.getByRole('dialog')
    await form.getByLabel('Name').fill('Lights')
    await form.getByLabel('What is asked').fill('Switch the lamp off.')
    // The times say in which zone they are, which is chosen above them.
    const next = form.getByRole('region', { name: en['schedules.next'] })
    const inZone = (zone: string) => en['schedules.next.in'].replace('{zone}', zone)
    const zone = form.getByLabel(en['schedules.zone'])
    await zone.selectOption('UTC')
    await next.getByText(inZone('Coordinated Universal Time'), { exact: true }).waitFor()
    await zone.selectOption('Asia/Shanghai')
    await next.getByText(inZone('China Standard Time'), { exact: true }).waitFor()
    await next.getByText('08:00').first().waitFor()
    await form.getByRole('switch', { name: 'Phone' }).click()
    await form.getByLabel('Model calls at most').fill('3')
    await form.getByRole('switch', { name: 'home: lamp' }).click()
    const saved = page.waitForResponse((answer) => answer.request().method() === 'POST')
    await form.getByRole('button', { name: 'Save' }).click()
    expect((await saved).status()).toBe(201)
    await form.waitFor({ state: 'hidden' })
    const { schedules } = (await call<{ schedules: Schedule[] }>('GET', '/schedules')).json()
    expect(schedules).toMatchObject([
      {
        ...{ name: 'Lights', webhook_ids: [runs.id], max_model_calls: 3 },
        ...{ cron: '0 8 * * *', time_zone: 'Asia/Shanghai' },
      },
    ])
    expect(schedules[0]?.approved_tools).toHaveLength(1)
    expect(visited.complaints).toEqual([])
  })

  test('chooses no more webhooks than a run may have, and drops none for another', async () => {
    const session = await signIn(at.app, 'hooks@example.com')
    const call = caller(`${at.app.url}/console`, session.headers)
    const names = ['One', 'Two', 'Three', 'Four', 'Five', 'Six']
    for (const name of names) {
      await make(call, `https://${name}.example.com/`, { name, events: ['run.done'] })
    }
    await using visited = await visit(at.browser, at.app.url, { language: 'en' }, session)
    const { page } = visited
    await page.goto('/app/schedules')
    await page.getByRole('button', { name: 'New schedule' }).first().click()
    const form = page.getByRole('dialog')
    const of = (name: string) => form.getByRole('switch', { name, exact: true })
    const full = form.getByText(en['runs.webhooks.full'].replace('{max}', '5'))
    for (const name of names.slice(0, 5)) {
      expect(await full.count()).toBe(0)
      await of(name).click()
    }
    await full.waitFor()
    expect([await of('Six').isDisabled(), await of('One').isChecked()]).toEqual([true, true])
    await of('Two').click()
    await of('Six').click()
    await full.waitFor()
    expect([await of('Two').isDisabled(), await of('Six').isChecked()]).toEqual([true, true])
  })

  test('the history of a schedule follows a run until it has ended', async () => {
    const session = await signIn(at.app, 'form@example.com')
    const call = caller(`${at.app.url}/console`, session.headers)
    await call('POST', '/schedules', { name: 'Run me', text: 'Go', cron: '0 8 * * *' })
    await using visited = await visit(at.browser, at.app.url, { language: 'en' }, session)
    const { page } = visited
    const run = { id: 'r1', due_at: '2026-11-24T08:00:00Z', session_id: 'x', error_class: null }
    const states = ['waiting', 'running', 'done']
    await page.route('**/console/runs?*', (route) => {
      const status = states.length > 1 ? states.shift() : states[0]
      return route.fulfill({ json: { runs: [{ ...run, status }] } })
    })
    await page.goto('/app/schedules')
    await page
      .getByRole('button', { name: /Run me/ })
      .first()
      .click()
    await page.getByRole('link', { name: 'Open conversation' }).waitFor()
  })
})
