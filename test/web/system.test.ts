import { expect, test } from 'bun:test'
import { en } from '../../web/i18n/en.ts'
import type { Key } from '../../web/i18n/index.tsx'
import { zh } from '../../web/i18n/zh.ts'
import { caller } from '../support/api.ts'
import { seriousFindings } from '../support/axe.ts'
import { visit } from '../support/chromium.ts'
import { signIn } from '../support/login.ts'
import { describeWeb, soon, useConsole } from './setup.ts'

const TIMEOUT_MS = 60_000

/** An Ollama on this machine; everything else is asked as usual. */
const withOllama = async (input: string | URL | Request, init?: RequestInit) =>
  String(input).startsWith('http://127.0.0.1:11434/')
    ? Response.json({ data: [{ id: 'qwen3:8b' }, { id: 'llama3:8b' }] })
    : fetch(input, init)

describeWeb('the pages of the server', () => {
  const at = useConsole({
    fetch: withOllama as typeof fetch,
    env: { MB_MAIL_FROM: 'Moonbase <m@example.com>' },
  })

  test(
    'the first person connects a model by one click, and runs the server in the browser',
    async () => {
      const session = await signIn(at.app, 'boss@example.com')
      await signIn(at.app, 'ada@example.com')
      await using visiting = await visit(at.browser, at.app.url, { language: 'en' }, session)
      const { page, complaints } = visiting
      const button = (name: string) => page.getByRole('button', { name, exact: true })
      await page.goto('/app/activity')
      await page.getByText(en['system.first.about']).waitFor()
      await page.getByLabel(en['system.kind.MODEL'], { exact: true }).selectOption('llama3:8b')
      await button('Use Ollama').click()
      await page.getByText(en['system.first.about']).waitFor({ state: 'detached' })

      await page.getByRole('link', { name: en['nav.server'], exact: true }).click()
      await page.getByText(en['overview.model.ok'], { exact: true }).waitFor()
      expect(await seriousFindings(page)).toEqual([])
      const go = (name: string) => page.getByRole('link', { name, exact: true }).click()
      await go(en['nav.server.models'])
      const model = page.locator('details').filter({ hasText: en['system.llm.about'] }).first()
      await model.locator('summary').first().click()
      await soon(() => model.getByRole('textbox', { name: /^Model/ }).inputValue(), 'llama3:8b')
      expect(await model.getByText('MB_LLM_MODEL').isVisible()).toBe(false)
      await model.getByText(en['server.file']).click()
      await model.getByText('MB_LLM_MODEL').waitFor()
      expect(await seriousFindings(page)).toEqual([])

      await go(en['nav.server.mail'])
      await soon(() => page.getByLabel(/^Sender/).getAttribute('readonly'), '')
      const host = page.getByLabel(en['mail.host'])
      expect(await button(en['mail.save']).getAttribute('aria-disabled')).toBe('true')
      await page.getByLabel(en['mail.password']).fill('half of it')
      await button(en['mail.save']).click()
      await host.and(page.locator(':focus:invalid')).waitFor()
      await page.getByLabel(en['mail.password']).fill('')
      await host.fill('127.0.0.1')
      await page.getByLabel(en['mail.port']).fill('9')
      // Nobody has said yet who may sign up: mail asks for that, and brings it with it.
      const now = page.getByRole('group', { name: en['system.signup'] })
      await now
        .getByRole('radio', { name: /^Anybody/ })
        .and(page.locator(':checked'))
        .waitFor()
      await page
        .getByRole('group', { name: en['mail.signup'] })
        .getByRole('radio', { name: /^Whom I invite/ })
        .and(page.locator(':checked'))
        .waitFor()
      await button(en['mail.save']).click()
      await page.getByText(en['mail.failed.next']).waitFor()
      await button(en['mail.untested']).click()
      await page.getByText(en['mail.set']).waitFor()
      await now.getByRole('radio', { name: /^Whom/ }).and(page.locator(':checked')).waitFor()
      expect(await page.getByRole('group', { name: en['mail.signup'] }).count()).toBe(0)
      expect(await seriousFindings(page)).toEqual([])
      await button(en['mail.off']).click()
      await page.getByRole('alertdialog').getByRole('button', { name: en['action.cancel'] }).click()
      await page.getByText(en['mail.set']).waitFor()

      await go(en['nav.server.limits'])
      await page.getByText(en['backups.none']).waitFor()
      const part = (name: string) =>
        page.locator('details.card').filter({ has: page.getByRole('heading', { name }) })
      const fill = async (of: string, name: Key, text: string) => {
        await part(of).getByLabel(en[name], { exact: true }).fill(text)
        await part(of).getByRole('button', { name: en['action.save'], exact: true }).click()
      }
      await page.getByText('Answers at once: 10,000').waitFor()
      await part(en['system.limits']).locator('summary').first().click()
      await fill(en['system.limits'], 'system.name.MB_KB_MAX_DOCS', '-5')
      await page.getByText('A number from 1 to 10,000.').waitFor()
      await part(en['system.backup']).locator('summary').first().click()
      await fill(en['system.backup'], 'system.name.MB_BACKUP_DIR', 'backups')
      await page.getByText(en['system.wrong.phrase']).waitFor()
      await fill(en['system.backup'], 'system.name.MB_BACKUP_PASSPHRASE', 'too short')
      await page.getByText('At least 12 letters').waitFor()
      expect(await page.getByText('MB_BACKUP_DIR is not valid').count()).toBe(0)
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        (async () => {
          await button(en['backups.download']).click()
          await page
            .getByRole('textbox', { name: en['backups.passphrase'], exact: true })
            .fill('open this backup')
          await page
            .getByRole('dialog')
            .getByRole('button', { name: en['backups.download'] })
            .click()
        })(),
      ])
      expect(file.suggestedFilename()).toMatch(/^moonbase-.*\.backup$/)
      await button('Change: Limits of ada').click()
      await page.getByLabel(en['tenants.daily']).fill('1000')
      await page.getByRole('dialog').getByRole('button', { name: en['action.save'] }).click()
      await page.getByText('tokens today: 0 of 1,000').waitFor()
      expect(await seriousFindings(page)).toEqual([])

      await go(en['nav.server.people'])
      await button(en['people.add']).click()
      await page.getByLabel(en['login.email']).fill('new@example.com')
      await page.getByRole('dialog').getByRole('button', { name: en['people.add'] }).click()
      await page.getByText('new@example.com', { exact: true }).waitFor()
      await button('Disable ada@example.com').click()
      await page
        .getByRole('alertdialog')
        .getByRole('button', { name: en['system.people.disable'] })
        .click()
      await button('Enable ada@example.com').waitFor()
      // Others sign in at the terminal again.
      const { headers } = session
      const cleared = { MB_SIGNUP: null, MB_SMTP_URL: null }
      const operator = caller(`${at.app.url}/console`, headers)
      expect((await operator('PUT', '/system', cleared)).status).toBe(200)
      await page.reload()
      const addAgain = async () => {
        await button(en['people.add']).click()
        await page.getByLabel(en['login.email']).fill('told@example.com')
        await page.getByRole('dialog').getByRole('button', { name: en['people.add'] }).click()
      }
      await addAgain()
      await page.getByRole('status').getByText('told@example.com may sign in').waitFor()
      await page.getByRole('dialog').getByText(`${at.app.url}/login`, { exact: true }).waitFor()
      await page.getByRole('dialog').getByText(en['action.close'], { exact: true }).click()
      await addAgain()
      await page.getByText(en['people.add.taken']).waitFor()
      expect(await seriousFindings(page)).toEqual([])
      expect(complaints).toEqual([])
    },
    TIMEOUT_MS,
  )

  test(
    'the system page tells everybody else that it is not for them',
    async () => {
      const session = await signIn(at.app, 'other@example.com')
      await using visiting = await visit(at.browser, at.app.url, { language: 'zh' }, session)
      const { page } = visiting
      await page.goto('/app/system')
      await page.getByText(zh['system.refused.text']).waitFor()
      expect(await page.getByRole('link', { name: zh['nav.server'], exact: true }).count()).toBe(0)
    },
    TIMEOUT_MS,
  )

  test(
    'the network reaches the server after one choice, and is told the address',
    async () => {
      await using visiting = await visit(
        at.browser,
        at.app.url,
        { language: 'en' },
        await signIn(at.app, 'boss@example.com'),
      )
      const { page } = visiting
      await page.goto('/app/system')
      await page.getByRole('radio', { name: /^My network/ }).click()
      const list = page.getByRole('list', { name: en['reach.addresses'] })
      await list
        .getByText(new RegExp(`:${new URL(at.app.url).port}$`))
        .first()
        .waitFor()
      await page.getByRole('radio', { name: /^This machine/ }).click()
      await list.waitFor({ state: 'detached' })
    },
    TIMEOUT_MS,
  )
})
