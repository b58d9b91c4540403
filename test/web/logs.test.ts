import { expect, test } from 'bun:test'
import { MINUTE_MS } from '../../src/core/clock.ts'
import { createLogStore } from '../../src/features/logs/store.ts'
import { en } from '../../web/i18n/en.ts'
import { visit } from '../support/chromium.ts'
import { signIn } from '../support/login.ts'
import { describeWeb, soon, useConsole } from './setup.ts'

describeWeb('the log page', () => {
  const at = useConsole()

  test('the log page shows the errors and times of all rows, not of the newest 500', async () => {
    const session = await signIn(at.app, 'busy@example.com')
    const { tenant_id: tenantId } = session.me
    const now = Date.now()
    const { db } = at.app
    const store = createLogStore(db, { all: (_tenantId, statement) => db.all(statement) })
    await store.write(
      Array.from({ length: 1300 }, (_, index) => ({
        ...{ id: `row-${index}`, tenantId, ts: now - (index + 1) * MINUTE_MS },
        ...{ appId: null, deviceId: null, keyId: null, channel: null, sessionId: null },
        ...{ endpoint: '/v1/agent', textChars: 1, firstMs: null, totalMs: null, isTaken: false },
        ...(index < 700
          ? { status: 200, latencyMs: 10, errorClass: null }
          : { status: 502, latencyMs: 4000, errorClass: 'upstream' }),
      })),
    )
    await using guest = await visit(at.browser, at.app.url, { language: 'en' }, session)
    await guest.page.goto('/app/logs?hours=24')
    const errors = guest.page.getByRole('list', { name: 'Error classes' })
    await errors.filter({ hasText: `${en['logs.class.upstream']}600` }).waitFor()
    // The axis ends at the next round number above the slowest: only older rows are slow.
    await guest.page.getByText('5,000 ms').waitFor()
    // More rows come by clicks, also those that the first answer did not hold.
    const { page } = guest
    for (let shown = 50; shown < 500; shown += 50) {
      await page.getByRole('button', { name: `${shown} of 500` }).click()
    }
    await page.getByRole('button', { name: en['logs.older'] }).click()
    await page.getByRole('button', { name: '500 of' }).click()
    await soon(() => page.locator('tbody tr').count(), 550)

    // The whole word is looked for, once it was typed.
    const asked: string[] = []
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url())
      if (pathname === '/console/logs') asked.push(searchParams.get('session_id') ?? '')
    })
    const name = page.getByLabel(en['logs.session'], { exact: true })
    await page.clock.install()
    await page.clock.pauseAt(Date.now() + MINUTE_MS)
    await name.pressSequentially('session-of-yesterday')
    await page.clock.resume()
    await page.waitForURL((url) => url.searchParams.get('session_id') === 'session-of-yesterday')
    expect(await name.inputValue()).toBe('session-of-yesterday')
    await page.getByText(en['logs.none']).waitFor()
    expect(new Set(asked)).toEqual(new Set(['session-of-yesterday']))
    await page.getByRole('button', { name: en['logs.clear'] }).click()
    await soon(() => name.inputValue(), '')
    expect(guest.complaints).toEqual([])
  }, 60_000)
})
