import { beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { en } from '../../web/i18n/en.ts'
import { type Call, caller } from '../support/api.ts'
import { visit } from '../support/chromium.ts'
import { type SignedIn, signIn } from '../support/login.ts'
import { fill } from './kb-page.ts'
import { BUILD_MS, describeWeb, soon, useConsole } from './setup.ts'

const TIMEOUT_MS = 60_000

type Made = { readonly id: string }

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

describeWeb('what a colleague does meanwhile', () => {
  const at = useConsole()
  let session: SignedIn
  /** The colleague. */
  let call: Call
  beforeAll(async () => {
    session = await signIn(at.app, 'ada@example.com')
    call = caller(`${at.app.url}/console`, session.headers)
  }, BUILD_MS)
  const make = async (path: string, body: object) =>
    (await call<Made>('POST', path, body)).json().id
  const open = async (path: string) => {
    const guest = await visit(at.browser, at.app.url, { language: 'en' }, session)
    await guest.page.goto(path)
    return guest
  }

  test(
    'the row of what is deleted elsewhere goes once somebody wants to delete it, too',
    async () => {
      const id = await make('/personas', { name: 'Gone', prompt: 'p' })
      await make('/personas', { name: 'Here', prompt: 'p' })
      await using guest = await open('/app/personas')
      const { page } = guest
      await page.getByRole('heading', { name: 'Gone' }).waitFor()
      await call('DELETE', `/personas/${id}`)
      await button(page, fill(en['personas.delete.title'], { name: 'Gone' })).click()
      const asked = page.getByRole('alertdialog')
      await asked.getByRole('button', { name: en['action.delete'] }).click()
      await asked.waitFor({ state: 'detached' })
      await page.getByRole('heading', { name: 'Gone' }).waitFor({ state: 'detached' })
      await page.getByRole('heading', { name: 'Here' }).waitFor()
    },
    TIMEOUT_MS,
  )

  test(
    'what was typed for what is deleted elsewhere stays, and its row goes',
    async () => {
      const id = await make('/prompts', { name: 'gone', title: 'Gone', text: 'Old words' })
      await using guest = await open('/app/prompts')
      const { page } = guest
      await button(page, fill(en['prompts.edit.one'], { name: 'gone' })).click()
      const text = page.getByRole('dialog').getByLabel(en['prompts.text'])
      await text.fill('New words')
      await call('DELETE', `/prompts/${id}`)
      await page.getByRole('dialog').getByRole('button', { name: en['action.save'] }).click()
      await page.getByText('Old words').waitFor({ state: 'detached' })
      expect(await text.inputValue()).toBe('New words')
    },
    TIMEOUT_MS,
  )

  test(
    'a prompt is not saved over what a colleague wrote meanwhile before it is shown',
    async () => {
      const old = { name: 'greet', title: 'Greet', text: 'Old words' }
      const id = await make('/prompts', old)
      await using guest = await open('/app/prompts')
      const { page } = guest
      await button(page, fill(en['prompts.edit.one'], { name: 'greet' })).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel(en['prompts.text']).fill('My words')
      await call('PUT', `/prompts/${id}`, { ...old, title: 'Welcome', text: 'Their words' })
      const stored = async () =>
        (await call<{ prompts: object[] }>('GET', '/prompts')).json().prompts
      await button(page, en['action.save']).click()
      await dialog.getByText('Their words').waitFor()
      expect(await stored()).toMatchObject([{ title: 'Welcome', text: 'Their words' }])
      await button(page, en['prompts.replace']).click()
      await dialog.waitFor({ state: 'detached' })
      expect(await stored()).toMatchObject([{ title: 'Welcome', text: 'My words' }])
    },
    TIMEOUT_MS,
  )

  test(
    'the zone and the language of prompts are set for the workspace',
    async () => {
      await using guest = await open('/app/settings')
      const { page } = guest
      await page.getByLabel(en['schedules.zone']).selectOption('Asia/Shanghai')
      await page.getByLabel(en['settings.language']).selectOption('en')
      await button(page, en['action.save']).click()
      await page.getByText(en['settings.saved']).waitFor()
      const settings = (await call<object>('GET', '/settings')).json()
      expect(settings).toMatchObject({ time_zone: 'Asia/Shanghai', language: 'en' })
    },
    TIMEOUT_MS,
  )

  for (const [what, path, list] of [
    ['an assistant', '/app/apps/gone', '/app/apps'],
    ['a device', '/app/devices/gone', '/app/devices'],
  ] as const) {
    test(
      `the page of ${what} that is deleted says so, and leads to the list`,
      async () => {
        await using guest = await open(path)
        const { page } = guest
        await page.getByText(en['gone.text']).waitFor()
        await page.locator('main a.btn').click()
        await page.waitForURL((url) => url.pathname === list)
      },
      TIMEOUT_MS,
    )
  }

  test(
    'to delete a collection is not asked of another one, where the first is deleted elsewhere',
    async () => {
      const id = await make('/kb/collections', { name: 'First' })
      await make('/kb/collections', { name: 'Second' })
      await using guest = await open('/app/kb')
      const { page } = guest
      await button(page, 'First · 0').click()
      await button(page, en['kb.collections.delete']).click()
      await page.getByRole('alertdialog').waitFor()
      await call('DELETE', `/kb/collections/${id}`)
      await loadAgain(page)
      await page.getByRole('alertdialog').waitFor({ state: 'detached' })
      await button(page, 'Second · 0').click()
      await button(page, en['kb.collections.delete']).waitFor()
      expect(await page.getByRole('alertdialog').count()).toBe(0)
    },
    TIMEOUT_MS,
  )

  test(
    'a form of an app saves what was typed, and keeps what was changed elsewhere',
    async () => {
      const app = { name: 'Shop', description: 'Old', greeting: 'Old' }
      const id = await make('/apps', app)
      await using guest = await open(`/app/apps/${id}`)
      const { page } = guest
      const greeting = page.getByLabel(en['apps.greeting'])
      await greeting.fill('Typed')
      await call('PUT', `/apps/${id}`, { ...app, description: 'Of the colleague' })
      await loadAgain(page)
      const description = page.getByLabel(en['apps.description'], { exact: true })
      await soon(() => description.inputValue(), 'Of the colleague')
      expect(await greeting.inputValue()).toBe('Typed')
      // What this page has not heard of yet stays, too.
      await call('PUT', `/apps/${id}`, { ...app, description: 'Of the colleague', model: 'theirs' })
      await button(page, en['action.save']).click()
      await page.getByText(en['apps.saved']).waitFor()
      const { apps } = (await call<{ apps: object[] }>('GET', '/apps')).json()
      expect(apps).toMatchObject([
        { description: 'Of the colleague', model: 'theirs', greeting: 'Typed' },
      ])
      expect(await button(page, en['action.save']).isDisabled()).toBe(true)
    },
    TIMEOUT_MS,
  )

  test(
    'the setup of a talk saves what was changed there, and keeps what was changed elsewhere',
    async () => {
      const app = { name: 'Desk', greeting: 'Old' }
      const id = await make('/apps', app)
      await using guest = await open(`/app?app=${id}`)
      const { page } = guest
      await button(page, en['studio.right']).click()
      await button(page, en['studio.setup']).click()
      const prompt = page.getByRole('textbox', { name: en['apps.prompt'] })
      await prompt.fill('Typed here')
      await call('PUT', `/apps/${id}`, { ...app, name: 'Help desk', model: 'theirs' })
      await button(page, fill(en['studio.setup.save'], { name: 'Desk' })).click()
      await page.getByText(en['apps.saved']).waitFor()
      const { apps } = (await call<{ apps: { id: string }[] }>('GET', '/apps')).json()
      expect(apps.find((one) => one.id === id)).toMatchObject({
        ...{ name: 'Help desk', model: 'theirs', system_prompt: 'Typed here', greeting: 'Old' },
      })
      // What is not saved follows a change of the rest.
      await prompt.fill('Typed later')
      await call('PUT', `/apps/${id}`, { ...app, model: 'another' })
      await page.reload()
      await soon(() => page.getByLabel(en['field.model'], { exact: true }).inputValue(), 'another')
      expect(await prompt.inputValue()).toBe('Typed later')
    },
    TIMEOUT_MS,
  )

  test(
    'a form of settings in which nothing was typed follows a change, and keeps nobody on the page',
    async () => {
      const { json } = await call<object>('GET', '/settings')
      await using guest = await open('/app/settings')
      const { page } = guest
      const model = page.getByLabel(en['field.model'], { exact: true })
      await model.waitFor()
      await call('PUT', '/settings', { ...json(), model: 'theirs' })
      await loadAgain(page)
      await soon(() => model.inputValue(), 'theirs')
      const tabs = page.getByRole('navigation', { name: en['nav.tabs'] })
      // What this page has not heard of yet stays.
      await call('PUT', '/settings', { ...json(), model: 'newest' })
      await page.getByLabel(en['field.temperature'], { exact: true }).fill('0.5')
      await button(page, en['action.save']).click()
      await soon(() => model.inputValue(), 'newest')
      await tabs.getByRole('link', { name: en['nav.personas'] }).click()
      await page.getByRole('heading', { name: en['nav.personas'] }).waitFor()
    },
    TIMEOUT_MS,
  )
})

/** The lists are loaded again when the window gets the focus after a while. */
async function loadAgain(page: Page): Promise<void> {
  await page.clock.install()
  await page.clock.fastForward(60_000)
  await page.evaluate(() => dispatchEvent(new Event('visibilitychange')))
  await page.clock.resume()
}
