import { expect, test } from 'bun:test'
import { sql } from '../../src/storage/db.ts'
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
    await at.app.db.run(sql`
      WITH RECURSIVE minute (value) AS
        (SELECT 1 UNION ALL SELECT value + 1 FROM minute WHERE value < 1300)
      INSERT INTO request_log (id, tenant_id, ts, endpoint, status, latency_ms, error_class)
      SELECT 'row-' || value, ${tenantId}, ${now} - value * 60000, '/v1/agent',
        iif(value > 700, 502, 200), iif(value > 700, 4000, 10), iif(value > 700, 'upstream', NULL)
      FROM minute`)
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
    expect(guest.complaints).toEqual([])
  }, 60_000)
})
