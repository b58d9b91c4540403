import { beforeAll, expect, test } from 'bun:test'
import { en } from '../../web/i18n/en.ts'
import { type Call, caller } from '../support/api.ts'
import { visit } from '../support/chromium.ts'
import { type SignedIn, signIn } from '../support/login.ts'
import { startTeam } from '../support/team.ts'
import { BUILD_MS, describeWeb, soon, useConsole } from './setup.ts'
import { field } from './studio-page.ts'

const TIMEOUT_MS = 60_000

describeWeb('what is not there', () => {
  const at = useConsole()
  let session: SignedIn
  let call: Call
  beforeAll(async () => {
    session = await signIn(at.app, 'ada@example.com')
    call = caller(`${at.app.url}/console`, session.headers)
  }, BUILD_MS)
  const make = async (path: string, body: object) =>
    (await call<{ id: string }>('POST', path, body)).json().id
  const open = async () => visit(at.browser, at.app.url, { language: 'en' }, session)

  test(
    'a persona whose list fails is not called deleted, and the failure can be tried again',
    async () => {
      const persona_id = await make('/personas', { name: 'Kind', prompt: 'p' })
      const id = await make('/apps', { name: 'Shop', persona_id })
      await using guest = await open()
      const { page } = guest
      await page.route('**/console/personas', (route) => route.fulfill({ status: 500 }))
      await page.goto(`/app/apps/${id}`)
      const effective = page.getByRole('complementary', { name: en['preview.title'] })
      const again = effective.getByRole('button', { name: en['action.retry'] })
      await again.waitFor()
      const choices = page.getByLabel(en['apps.persona'], { exact: true }).locator('option')
      expect(await choices.allInnerTexts()).not.toContain(en['apps.persona.gone'])
      await page.unroute('**/console/personas')
      await again.click()
      await effective.getByText('Kind', { exact: true }).waitFor()
    },
    TIMEOUT_MS,
  )

  test(
    'a schedule whose assistant was deleted says so in its form',
    async () => {
      const app_id = await make('/apps', { name: 'Doomed' })
      await make('/schedules', { name: 'News', text: 'What is new?', cron: '0 8 * * *', app_id })
      await call('DELETE', `/apps/${app_id}`)
      await using guest = await open()
      const { page } = guest
      await page.goto('/app/schedules')
      await page.getByRole('button', { name: /^Edit/ }).click()
      const app = page.getByRole('dialog').getByLabel(en['schedules.app'])
      await soon(() => app.inputValue(), app_id)
      await app.getByText(en['schedules.gone']).waitFor({ state: 'attached' })
    },
    TIMEOUT_MS,
  )

  test(
    'a viewer is not offered to delete a schedule, which the server refuses',
    async () => {
      const team = await startTeam(at.app)
      const viewer = await team.join('viewer')
      const body = { name: 'News', text: 'What is new?', cron: '0 8 * * *' }
      await team.call('POST', '/console/schedules', body)
      const reader = { ...session, headers: viewer.headers as SignedIn['headers'] }
      await using guest = await visit(at.browser, at.app.url, { language: 'en' }, reader)
      const { page } = guest
      await page.goto('/app/schedules')
      await page.getByRole('heading', { name: 'News' }).waitFor()
      expect(await page.getByRole('button', { name: /Delete/ }).count()).toBe(0)
    },
    TIMEOUT_MS,
  )

  test(
    'the form of a share greets as the page does, and Enter in the address makes no share',
    async () => {
      const id = await make('/apps', { name: 'Help' })
      await call('POST', `/apps/${id}/shares`, { name: 'Front', origins: [], daily_turns: 5 })
      await using guest = await open()
      const { page } = guest
      await page.goto(`/app/apps/${id}`)
      await page.getByRole('tab', { name: en['apps.tab.publish'] }).click()
      await page.getByRole('button', { name: `${en['app.shares.edit']}: ` }).click()
      const preview = page.getByRole('region', { name: en['app.shares.preview'] })
      await preview.getByText(en['app.shares.hello']).waitFor()
      await page.getByRole('button', { name: en['action.cancel'] }).click()

      await page.getByRole('button', { name: en['app.shares.new'] }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel(en['field.name']).fill('Second')
      await dialog.getByLabel(en['address.label']).fill('https://moon.example.com')
      await page.keyboard.press('Enter')
      await page.getByText(en['system.saved']).waitFor()
      expect(await dialog.getByLabel(en['field.name']).inputValue()).toBe('Second')
      const { shares } = (await call<{ shares: object[] }>('GET', `/apps/${id}/shares`)).json()
      expect(shares).toHaveLength(1)
    },
    TIMEOUT_MS,
  )

  test(
    'what one conversation suggests to remember does not stand under another',
    async () => {
      await using guest = await open()
      const { page } = guest
      const talk = (id: string) => ({ id, title: id, last_at: new Date().toISOString() })
      await page.route('**/console/conversations?of=mine', (route) =>
        route.fulfill({ json: { conversations: [talk('One'), talk('Two')], next_before: null } }),
      )
      await page.route('**/console/memories/suggest', (route) =>
        route.fulfill({ json: { suggestions: ['Likes tea'] } }),
      )
      await page.goto('/app/memory')
      const from = page.getByLabel(en['memory.suggest.from'])
      await from.selectOption('One')
      await page.getByRole('button', { name: en['memory.suggest'] }).click()
      await page.getByText('Likes tea').waitFor()
      await from.selectOption('Two')
      await page.getByText('Likes tea').waitFor({ state: 'detached' })
    },
    TIMEOUT_MS,
  )

  test(
    'a fact that is being pinned can be edited, and stays pinned',
    async () => {
      await make('/memories', { text: 'Likes tea', subject: null })
      await using guest = await open()
      const { page } = guest
      const pinned = Promise.withResolvers<void>()
      await page.route('**/console/memories/*', async (route) => {
        await pinned.promise
        await route.continue()
      })
      await page.goto('/app/memory')
      const button = (name: 'pin' | 'edit' | 'unpin', text: string) =>
        page.getByRole('button', {
          name: en[`memory.${name}`].replace('{text}', text),
          exact: true,
        })
      await button('pin', 'Likes tea').click()
      await button('edit', 'Likes tea').click()
      const field = page.getByRole('textbox', { name: en['memory.text'], exact: true }).last()
      await field.fill('Likes green tea')
      // The list that is loaded anew comes late, too.
      const listed = Promise.withResolvers<void>()
      await page.route('**/console/memories?*', async (route) => {
        await listed.promise
        await route.continue()
      })
      pinned.resolve()
      await page.getByText(en['memory.saved'], { exact: true }).waitFor()
      expect(await field.inputValue()).toBe('Likes green tea')
      const saved = page.waitForResponse('**/console/memories/*')
      await field.press('Enter')
      await saved
      listed.resolve()
      await button('unpin', 'Likes green tea').waitFor()
      await page.goto('/app/memory')
      await button('unpin', 'Likes green tea').waitFor()
      // Whoever clicks before the list tells of new words means these.
      const late = Promise.withResolvers<void>()
      await page.route('**/console/memories?*', async (route) => {
        await late.promise
        await route.continue()
      })
      await button('edit', 'Likes green tea').click()
      await field.fill('Likes black tea')
      await field.press('Enter')
      await button('unpin', 'Likes black tea').click()
      late.resolve()
      await button('pin', 'Likes black tea').waitFor()
    },
    TIMEOUT_MS,
  )

  test(
    'a part that the server has no more, since it has another build, loads the page anew',
    async () => {
      await using guest = await open()
      const { page } = guest
      await page.goto('/app')
      await field(page).fill('Half a thought')
      await page.waitForLoadState('networkidle')
      let hasOtherBuild = true
      page.on('request', (request) => {
        if (request.isNavigationRequest()) hasOtherBuild = false
      })
      await page.route('**/assets/*.js', (route) =>
        hasOtherBuild ? route.fulfill({ status: 404 }) : route.continue(),
      )
      await page.keyboard.press('Control+k')
      await soon(async () => hasOtherBuild, false)
      await soon(() => field(page).inputValue(), 'Half a thought')
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog', { name: en['palette.title'] }).waitFor()
    },
    TIMEOUT_MS,
  )
})
