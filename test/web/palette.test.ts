import { expect, test } from 'bun:test'
import { en } from '../../web/i18n/en.ts'
import { visit } from '../support/chromium.ts'
import { type SignedIn, signIn } from '../support/login.ts'
import { startTeam } from '../support/team.ts'
import { describeWeb, soon, useConsole } from './setup.ts'
import { field } from './studio-page.ts'

describeWeb('the palette', () => {
  const at = useConsole()

  test('opened before its words have come, it lists what is found and no more', async () => {
    const session = await signIn(at.app)
    await using guest = await visit(at.browser, at.app.url, { language: 'en' }, session)
    const { page } = guest
    const held = Promise.withResolvers<void>()
    await page.route('**/assets/*.js', async (route) => {
      const response = await route.fetch()
      if ((await response.text()).includes(en['palette.hint'])) await held.promise
      await route.fulfill({ response })
    })
    await page.goto('/app')
    await field(page).waitFor()
    await page.keyboard.press('Control+k')
    const input = page.getByRole('combobox', { name: en['palette.title'] })
    await input.waitFor()
    held.resolve()
    await page.getByRole('option', { name: en['nav.usage'], exact: true }).waitFor()
    await input.fill('/app/usage')
    await soon(() => page.getByRole('option').allInnerTexts(), [en['nav.usage']])
  })

  test('offers a member what they may do', async () => {
    const team = await startTeam(at.app)
    const session = await signIn(at.app)
    const NEW = ['apps.new', 'keys.new', 'devices.new', 'kb.add'] as const
    const offered = { viewer: [], editor: [0, 2, 3], owner: [0, 1, 2, 3] } as const
    for (const role of ['viewer', 'editor', 'owner'] as const) {
      const { headers } = role === 'owner' ? team : await team.join(role)
      const person = { ...session, headers: headers as SignedIn['headers'] }
      await using guest = await visit(at.browser, at.app.url, { language: 'en' }, person)
      const { page } = guest
      await page.goto('/app')
      await field(page).waitFor()
      await page.keyboard.press('Control+k')
      const group = page.getByRole('group', { name: en['palette.actions'] })
      await group.getByText(en['user.logout']).waitFor()
      const names = (await group.getByRole('option').allInnerTexts()).map((name) => name.trim())
      expect(NEW.map((key) => en[key]).filter((name) => names.includes(name))).toEqual(
        offered[role].map((place) => en[NEW[place]]),
      )
    }
  }, 60_000)
})
