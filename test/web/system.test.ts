import { expect, test } from 'bun:test'
import { en } from '../../web/i18n/en.ts'
import { zh } from '../../web/i18n/zh.ts'
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

describeWeb('the system page', () => {
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
      await page.getByLabel(en['system.kind.MODEL']).selectOption('llama3:8b')
      await button('Use Ollama').click()
      await page.getByText(en['system.first.about']).waitFor({ state: 'detached' })

      await page.getByRole('link', { name: en['nav.server'], exact: true }).click()
      const model = page.locator('details').filter({ hasText: en['system.llm.about'] })
      await model.getByText('MB_LLM_MODEL').waitFor()
      await soon(() => model.getByRole('textbox', { name: /^Model/ }).inputValue(), 'llama3:8b')
      const mail = page.locator('details').filter({ hasText: en['system.mail.about'] })
      await mail.locator('summary').press('Enter')
      await soon(() => mail.getByLabel(/^Sender/).getAttribute('readonly'), '')
      await mail.getByLabel(/^Mail server/).fill('nowhere')
      await mail.getByRole('button', { name: en['action.save'], exact: true }).click()
      await mail.getByRole('alert').waitFor()
      await soon(() => mail.getByLabel(/^Mail server/).getAttribute('aria-invalid'), 'true')

      await button('Disable ada@example.com').click()
      await page
        .getByRole('alertdialog')
        .getByRole('button', { name: en['system.people.disable'] })
        .click()
      await button('Enable ada@example.com').waitFor()
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
})
