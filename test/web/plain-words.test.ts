import { expect, test } from 'bun:test'
import { en } from '../../web/i18n/en.ts'
import { caller } from '../support/api.ts'
import { visit } from '../support/chromium.ts'
import { signIn } from '../support/login.ts'
import { describeWeb, useConsole } from './setup.ts'

const TIMEOUT_MS = 60_000

describeWeb('pages say in words what the server stores in codes', () => {
  const at = useConsole()

  test(
    'settings, audit, versions and schedules, and a link for others is asked its address',
    async () => {
      const session = await signIn(at.app, 'words@example.com')
      const call = caller(`${at.app.url}/console`, session.headers)
      const app = (
        await call<{ id: string }>('POST', '/apps', { name: 'Shop', thinking: true })
      ).json()
      await call('PUT', `/apps/${app.id}`, { name: 'Shop', tools_enabled: [] })
      await call('POST', `/apps/${app.id}/keys`, { name: 'Till' })
      await call('PUT', '/system', { MB_EMBED_MODEL: 'tiny' })
      const schedule = { name: 'News', text: 'What is new?', cron: '30 7 * * 1-5' }
      const planned = await call('POST', '/schedules', { ...schedule, app_id: app.id })
      expect(planned.status).toBe(201)
      await using visiting = await visit(at.browser, at.app.url, { language: 'en' }, session)
      const { page, complaints } = visiting

      await page.goto('/app/system/voice')
      await page.getByText(en['system.unset.tts']).waitFor()

      await page.goto('/app/system/mail')
      const ways = page.locator('details').filter({ hasText: en['system.signin.about'] })
      await ways.locator('summary').first().click()
      await ways.getByRole('checkbox', { name: en['system.way.oauth'] }).uncheck()
      const saved = page.waitForResponse((answer) => answer.request().method() === 'PUT')
      await ways.getByRole('button', { name: en['action.save'] }).click()
      expect((await saved).status()).toBe(200)
      await ways.getByText(`${en['system.way.email']}, ${en['system.way.passkey']}`).waitFor()

      await page.goto('/app/audit')
      await page.getByText('Embedding: Model', { exact: true }).waitFor()
      await page.getByRole('link', { name: 'Till', exact: true }).waitFor()
      await page.getByRole('link', { name: 'Shop', exact: true }).first().click()
      await page.getByRole('button', { name: en['apps.versions.compare'] }).click()
      const compared = page.getByRole('dialog')
      await compared.getByText(en['apps.tools.none'], { exact: true }).waitFor()
      await compared.getByText(en['apps.tools.all'], { exact: true }).waitFor()
      expect(await compared.getByText(/null|true|\[/).count()).toBe(0)

      await page.goto('/app/schedules')
      await page.getByText(/^Monday to Friday at 07:30/).waitFor()

      await page.goto('/app/members')
      await page.getByRole('button', { name: en['members.invite'] }).click()
      const form = page.getByRole('dialog')
      await form.getByLabel(en['address.label']).fill('https://moon.example.com')
      await form.getByRole('button', { name: en['action.save'] }).click()
      await form.getByText(en['address.ask']).waitFor({ state: 'detached' })
      await form.getByLabel(en['login.email']).fill('friend@example.com')
      await form.getByRole('button', { name: en['members.invite'] }).click()
      await form.getByText('https://moon.example.com/login').waitFor()
      expect(complaints).toEqual([])
    },
    TIMEOUT_MS,
  )
})
