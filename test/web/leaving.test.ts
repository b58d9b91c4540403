import { expect, test } from 'bun:test'
import { en } from '../../web/i18n/en.ts'
import { caller } from '../support/api.ts'
import { describeWeb, soon } from './setup.ts'
import { ask, ended, openWhy, turnOf, useStudio } from './studio-page.ts'

const TIMEOUT_MS = 60_000

describeWeb('a page that is left', () => {
  const at = useStudio()
  const titles = async () => {
    const call = caller(`${at.world.app.url}/console`, at.session.headers)
    type List = { readonly conversations: readonly { readonly title: string }[] }
    return (await call<List>('GET', '/conversations')).json().conversations.map((one) => one.title)
  }

  test(
    'a talk that was deleted is deleted, also where the tab closes while it can be undone',
    async () => {
      at.world.platform.reply({ text: 'Yes.' })
      await using guest = await at.open()
      const { page } = guest
      await ended(await ask(page, 'Is it to be deleted?'))
      await soon(titles, ['Is it to be deleted?'])
      await page.getByRole('button', { name: /^More for “Is it/ }).click()
      await page.getByRole('menuitem', { name: en['action.delete'] }).click()
      await page.getByRole('button', { name: en['studio.undo'] }).waitFor()
      await page.close()
      await soon(titles, [])
    },
    TIMEOUT_MS,
  )

  test(
    'a thumb stands under its answer when the talk is opened again, and after another talk',
    async () => {
      at.world.platform.reply({ text: 'Blue.' })
      await using guest = await at.open()
      const { page } = guest
      await ended(await ask(page, 'Which colour?'))
      const thumb = turnOf(page, 'Which colour?').getByRole('button', {
        name: en['feedback.bad'],
      })
      await thumb.click()
      await soon(() => thumb.getAttribute('aria-pressed'), 'true')
      await page.reload()
      await soon(() => thumb.getAttribute('aria-pressed'), 'true')
      await thumb.click()
      await soon(() => thumb.getAttribute('aria-pressed'), 'false')
      await page.getByRole('button', { name: en['studio.new'] }).first().click()
      await thumb.waitFor({ state: 'detached' })
      await page.goBack()
      expect(await thumb.getAttribute('aria-pressed')).toBe('false')
      expect(guest.complaints).toEqual([])
    },
    TIMEOUT_MS,
  )

  test(
    'a tool that asked is told by its name for people, under why and in the audit',
    async () => {
      const { platform } = at.world
      await using guest = await at.open()
      const { page } = guest
      await page.request.put('/console/settings', { data: { may_ask: true } })
      const args = { question: 'Which one?', options: ['attic', 'cellar'] }
      platform.reply({ toolCalls: [{ name: 'ask_user', arguments: args }] })
      platform.reply({ text: 'It stays dark.' })
      const asked = await ask(page, 'Make it dark')
      await page.getByRole('button', { name: en['studio.ask.decline'] }).click()
      await ended(asked)
      await openWhy(asked)
      await page.getByText(/^Question to you: no/).waitFor()
      await page.goto('/app/audit')
      await page.getByText('Question to you: declined', { exact: true }).waitFor()
      expect(await page.getByText('ask_user').count()).toBe(0)
    },
    TIMEOUT_MS,
  )
})
