import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { en } from '../../web/i18n/en.ts'
import { goTo } from './go-to.ts'
import { describeWeb } from './setup.ts'
import { ask, ended, field, turnOf, useStudio } from './studio-page.ts'

/** The reply that has this text; a status says it once, too. */
const reply = (page: Page, text: string) => page.locator('.prose', { hasText: text })
describeWeb('a conversation', () => {
  const at = useStudio()

  test('an answer and a draft go on while another page is open', async () => {
    await using guest = await at.open()
    const { page } = guest
    const rest = Promise.withResolvers<void>()
    at.world.platform.reply({
      pieces: ['One moment', ', here it is.'],
      hold: { after: 1, until: rest.promise },
    })
    await ask(page, 'Will you wait for me?')
    await reply(page, 'One moment').waitFor()
    await field(page).fill('half a thought')
    await goTo(page, 'nav.usage')
    await page.getByRole('heading', { level: 1, name: en['nav.usage'] }).waitFor()
    await page.getByRole('img', { name: en['studio.answering'] }).first().waitFor()
    rest.resolve()
    await page
      .getByRole('img', { name: en['studio.answering'] })
      .first()
      .waitFor({ state: 'detached' })
    await goTo(page, 'nav.chat')
    await reply(page, 'One moment, here it is.').waitFor()
    expect(await page.locator('.bubble').count()).toBe(1)
    expect(await field(page).inputValue()).toBe('half a thought')
    await page.reload()
    await reply(page, 'One moment, here it is.').waitFor()
    expect(await field(page).inputValue()).toBe('half a thought')
    expect(guest.complaints).toEqual([])
  }, 60_000)

  test('a stopped question is there after a reload, with the words that came', async () => {
    await using guest = await at.open()
    const { page } = guest
    at.world.platform.reply({
      pieces: ['one two three'],
      hold: { after: 1, until: new Promise(() => {}) },
    })
    await ask(page, 'Count to a hundred')
    await reply(page, 'one two three').waitFor()
    await page.getByRole('button', { name: en['studio.stop'] }).click()
    const stopped = page.getByTestId('reply').getByText(en['studio.stopped.kept'])
    await stopped.waitFor()
    await page.reload()
    await stopped.waitFor()
    await reply(page, 'one two three').waitFor()
    expect(await page.locator('.bubble').allTextContents()).toEqual(['Count to a hundred'])
  }, 60_000)

  test('a question after the sign-in has ended leads to signing in and is kept', async () => {
    await using guest = await at.open()
    const { page } = guest
    // Only the question comes too late: nothing else leads to signing in before it is asked.
    await page.route(
      '**/console/agent',
      async (route) => {
        const request = route.request()
        const headers = { origin: at.world.app.url, 'content-type': 'application/json' }
        const body = request.postData() ?? ''
        const answer = await fetch(request.url(), { method: 'POST', headers, body })
        expect(answer.status).toBe(401)
        await route.fulfill({
          status: answer.status,
          headers: Object.fromEntries(answer.headers),
          body: await answer.text(),
        })
      },
      { times: 1 },
    )
    await ask(page, 'Am I still here?')
    const again = page.getByRole('alert').getByRole('link', { name: en['session.again'] })
    await again.and(page.locator('[href*="/login?next=%2Fapp%3Fsession"]')).waitFor()
    at.world.platform.reply({ text: 'Yes, you are.' })
    await page.getByRole('button', { name: en['studio.retry'] }).click()
    await reply(page, 'Yes, you are.').waitFor()
  }, 60_000)

  test('the other tab of a conversation shows a turn once it has ended', async () => {
    await using guest = await at.open()
    const { page, context } = guest
    at.world.platform.reply({ text: 'The first answer.' })
    await ended(await ask(page, 'From which tab?'))
    await page.waitForURL(/session=/)
    const other = await context.newPage()
    await other.goto(page.url())
    await reply(other, 'The first answer.').waitFor()
    at.world.platform.reply({ text: 'The second answer.' })
    await ended(await ask(page, 'And now?'))
    await reply(other, 'The second answer.').waitFor()
    expect(await other.locator('.bubble').allTextContents()).toEqual([
      'From which tab?',
      'And now?',
    ])
  }, 60_000)

  test('a question leaves the turns before it as they are, without their buttons', async () => {
    const { platform } = at.world
    await using guest = await at.open()
    const { page } = guest
    platform.reply({ text: 'Of the first.' })
    const first = await ask(page, 'What comes first?')
    await ended(first)
    platform.reply({ text: 'Of the second.' })
    await ended(await ask(page, 'What comes second?'))
    const again = first.getByRole('button', { name: en['studio.again'] })
    await again.waitFor()
    const changes = await first.evaluateHandle((turn) => {
      const seen = { count: 0 }
      const count = (all: readonly MutationRecord[]) => (seen.count += all.length)
      new MutationObserver(count).observe(turn, { childList: true, subtree: true })
      return seen
    })
    const rest = Promise.withResolvers<void>()
    platform.reply({ pieces: ['Of', ' the third.'], hold: { after: 1, until: rest.promise } })
    const third = await ask(page, 'What comes third?')
    await third.locator('.prose', { hasText: 'Of' }).waitFor()
    expect(await again.count()).toBe(0)
    rest.resolve()
    await ended(third)
    await again.waitFor()
    expect(await changes.evaluate(({ count }) => count)).toBe(0)
  }, 60_000)

  test('the last question is edited, and answered again, in its place', async () => {
    await using guest = await at.open()
    const { page } = guest
    at.world.platform.reply({ text: 'Paris.' })
    await ended(await ask(page, 'The capital of France'))
    at.world.platform.reply({ text: 'Lima.' })
    await page.getByRole('button', { name: en['studio.edit'] }).click()
    await page.getByRole('textbox', { name: en['studio.edit'] }).fill('The capital of Peru')
    await page.keyboard.press('Enter')
    await reply(page, 'Lima.').waitFor()
    await ended(turnOf(page, 'The capital of Peru'))
    at.world.platform.reply({ text: 'It is Lima.' })
    await page.getByRole('button', { name: en['studio.again'] }).click()
    await reply(page, 'It is Lima.').waitFor()
    await ended(turnOf(page, 'The capital of Peru'))
    expect(JSON.stringify(at.world.asked(at.world.platform).at(-1)?.body)).not.toContain('Lima')
    await page.reload()
    await reply(page, 'It is Lima.').waitFor()
    expect(await page.locator('.bubble').allTextContents()).toEqual(['The capital of Peru'])
  }, 60_000)

  test('conversations are found, named, opened and deleted on a phone too', async () => {
    await using guest = await at.open()
    const { page } = guest
    await page.setViewportSize({ width: 390, height: 800 })
    at.world.platform.reply({ text: 'At nine.' })
    await ended(await ask(page, 'When does the library open?'))
    await page.locator('main').getByRole('button', { name: en['studio.new'] }).click()
    at.world.platform.reply({ text: 'At noon.' })
    await ended(await ask(page, 'When is lunch?'))
    await page.getByRole('button', { name: en['nav.menu'] }).click()
    const rail = page.getByRole('dialog')
    await rail.getByRole('searchbox').fill('nine')
    await rail.locator('mark', { hasText: 'nine' }).waitFor()
    await rail.getByRole('button', { name: /^When is lunch/ }).waitFor({ state: 'detached' })
    const more = (title: string) => en['studio.actions'].replace('{title}', title)
    await rail.getByRole('button', { name: more('When does the library open?') }).click()
    await page.getByRole('menuitem', { name: en['studio.rename'] }).click()
    await page.getByRole('textbox', { name: en['studio.rename'] }).fill('Library')
    await page.keyboard.press('Enter')
    await rail.getByRole('searchbox').fill('')
    await rail.getByRole('button', { name: more('When is lunch?') }).click()
    await page.getByRole('menuitem', { name: en['action.delete'] }).click()
    // The list stays, so that the deletion can be taken back.
    await rail.getByRole('button', { name: /^When is lunch/ }).waitFor({ state: 'detached' })
    await rail.getByRole('searchbox').fill('nine')
    await rail.getByRole('button', { name: /^Library.*nine/ }).click()
    await page.locator('.turn[data-found]', { hasText: 'At nine.' }).waitFor()
    expect(guest.complaints).toEqual([])
  }, 60_000)

  test('formulas, code, sources and files are where they are expected', async () => {
    await using guest = await at.open()
    const { page } = guest
    const stored = await page.request.post(`${at.world.app.url}/console/kb/docs`, {
      data: { title: 'Returns', text: 'We sell shoes. Goods may be returned within **14 days**.' },
      headers: { origin: at.world.app.url },
    })
    expect(stored.status()).toBe(201)
    at.world.platform.reply({
      text: 'Returned goods: 14 days [1]. $E = m\\,c^2$\n\n```js\nconst a = 1\n```',
    })
    await page.evaluate(() => {
      const files = new DataTransfer()
      files.items.add(new File(['x'], 'shoe.png', { type: 'image/png' }))
      files.items.add(new File(['Shoes are red.'], 'shoes.txt', { type: 'text/plain' }))
      const drop = (type: string) =>
        document.body.dispatchEvent(
          new DragEvent(type, { dataTransfer: files, bubbles: true, cancelable: true }),
        )
      drop('dragover')
      drop('drop')
    })
    const named = (text: string) => text.replace('{name}', 'shoes.txt')
    await page.getByRole('button', { name: named(en['studio.attached.keep']) }).click()
    await page.getByText(en['studio.attached.kept']).waitFor()
    await page.getByRole('button', { name: named(en['studio.attached.drop']) }).click()
    await page.getByRole('img', { name: 'Image 1' }).waitFor()
    await page
      .getByRole('button', { name: en['studio.image.drop'].replace('{number}', '1') })
      .click()
    await ask(page, 'How long may goods be returned?')
    await page.locator('.prose math').waitFor()
    await page.locator('.prose .hljs-keyword', { hasText: 'const' }).waitFor()
    await page.getByRole('button', { name: /^Source 1: Returns/ }).click()
    const sentence = 'Goods may be returned within 14 days.'
    await page.getByRole('dialog').locator('mark', { hasText: sentence }).waitFor()
    expect(guest.complaints).toEqual([])
  }, 60_000)

  test('a setup is tried before it is saved as an app', async () => {
    await using guest = await at.open()
    const { page } = guest
    await page.getByRole('button', { name: en['studio.right'] }).click()
    await page.getByRole('button', { name: en['studio.setup'], exact: true }).click()
    await page.getByRole('textbox', { name: en['apps.prompt'] }).fill('Speak like a pirate.')
    await page.getByText(en['studio.setup.mark']).waitFor()
    at.world.platform.reply({ text: 'Arr.' })
    await ask(page, 'Where is the harbour?')
    await reply(page, 'Arr.').waitFor()
    const tried = at.world.asked(at.world.platform).at(-1)?.body
    expect(JSON.stringify(tried)).toContain('Speak like a pirate.')
    await page.getByRole('textbox', { name: en['studio.setup.name'] }).fill('Pirate')
    await page.getByRole('button', { name: en['apps.create'] }).click()
    await page.getByText(en['studio.setup.mark']).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: /^Who answers: Pirate/ }).waitFor()
    expect(guest.complaints).toEqual([])
  }, 60_000)
})
