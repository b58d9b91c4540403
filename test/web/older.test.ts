import { test } from 'bun:test'
import { visit } from '../support/chromium.ts'
import { signIn } from '../support/login.ts'
import { fillers } from '../support/talks.ts'
import { describeWeb, soon, useConsole } from './setup.ts'
import { ask, ended, field } from './studio-page.ts'

describeWeb('a long talk', () => {
  const at = useConsole()

  test('shows its earlier turns by itself while there is room for them', async () => {
    const session = await signIn(at.app)
    const look = { language: 'en', height: 16_000 } as const
    await using guest = await visit(at.browser, at.app.url, look, session)
    const { page } = guest
    await page.goto('/app')
    await field(page).waitFor()
    await ended(await ask(page, 'The first of many'))
    const id = new URL(page.url()).searchParams.get('session') ?? ''
    await at.app.db.batch(fillers(session.me.tenant_id, id, 2, 80))
    await page.reload()
    await soon(() => page.locator('li.turn').count(), 81)
  }, 60_000)
})
