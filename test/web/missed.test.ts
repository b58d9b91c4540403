import { expect, test } from 'bun:test'
import { en } from '../../web/i18n/en.ts'
import { caller } from '../support/api.ts'
import { visit } from '../support/chromium.ts'
import { signIn } from '../support/login.ts'
import { describeWeb, useConsole } from './setup.ts'
import { openWhy } from './studio-page.ts'

describeWeb('the studio on a question that no document answers', () => {
  const world = useConsole()

  test('a miss is shown beside the answer and opens the nearest passages', async () => {
    const session = await signIn(world.app)
    const call = caller(`${world.app.url}/console`, session.headers)
    const doc = { title: 'Opening hours', text: 'The café opens at eight and closes at five.' }
    expect((await call('POST', '/kb/docs', doc)).status).toBe(201)
    await using guest = await visit(world.browser, world.app.url, { language: 'en' }, session)
    const { page } = guest
    await page.goto('/app')
    await page
      .getByRole('textbox', { name: en['studio.ask'] })
      .fill('Who won the election in Peru?')
    await page.keyboard.press('Enter')
    await openWhy(page.locator('li.turn'))
    const missed = page.getByText(
      /^Documents searched: 1; nothing close enough \(.*score 0\.\d\d, relevance 0\.[0-4]\d;/,
    )
    await missed.click()
    await page.getByText(en['studio.missed.nearest']).waitFor()
    await page.getByRole('button', { name: /Opening hours/ }).click()
    await page.getByRole('dialog').getByText(doc.text).waitFor()
  }, 60_000)
})
