import { expect, test } from 'bun:test'
import { en } from '../../web/i18n/en.ts'
import { seriousFindings } from '../support/axe.ts'
import { pdfFile } from '../support/pdf-file.ts'
import { goTo } from './go-to.ts'
import { choose, fill, HANDBOOK, row, state, textFile, useKnowledgeBase } from './kb-page.ts'
import { describeWeb, soon } from './setup.ts'

const TIMEOUT_MS = 60_000

const SCAN = { ...HANDBOOK, name: 'Scan.pdf', buffer: Buffer.from(pdfFile([{ lines: [] }])) }

describeWeb('files on their way into the knowledge base', () => {
  const kb = useKnowledgeBase()

  test(
    'a failure says what to do, survives a reload, and the file can be sent again',
    async () => {
      await using guest = await kb.open()
      const { page, session } = guest
      await choose(page, SCAN)
      await page.getByText(en['kb.fail.no_text']).waitFor()
      const [first] = await kb.sourcesOf(session)
      const deleted = () =>
        page.waitForResponse((response) => response.request().method() === 'DELETE')
      // The browser still has the file.
      await Promise.all([deleted(), page.getByRole('button', { name: en['kb.again'] }).click()])
      await kb.console.app.jobs.idle()
      const [second, ...others] = await kb.sourcesOf(session)
      expect(others).toEqual([])
      expect(second?.id).not.toBe(first?.id)

      await page.reload()
      await page.getByText(en['kb.fail.no_text']).waitFor()
      // A file of the same name is another try.
      await Promise.all([deleted(), choose(page, SCAN)])
      await kb.console.app.jobs.idle()
      const [third, ...more] = await kb.sourcesOf(session)
      expect(more).toEqual([])
      expect(third?.id).not.toBe(second?.id)

      await page.reload()
      await page.getByText(en['kb.fail.no_text']).waitFor()
      const [chooser] = await Promise.all([
        page.waitForEvent('filechooser'),
        page.getByRole('button', { name: en['kb.again'] }).click(),
      ])
      await chooser.setFiles({ ...HANDBOOK, name: 'Scan.pdf' })
      await state(page, 'Scan', en['kb.state.ready'])
      expect(await kb.sourcesOf(session)).toHaveLength(1)
    },
    TIMEOUT_MS,
  )

  test(
    'a file that is sent while the list is on its way is shown',
    async () => {
      await using guest = await kb.open()
      const { page } = guest
      const asked = Promise.withResolvers<void>()
      const held = Promise.withResolvers<void>()
      // Without `times`, which would end the interception while the page asks again.
      let isFirst = true
      await page.route('**/console/library?*', async (route) => {
        if (!isFirst) return route.continue()
        isFirst = false
        const before = await route.fetch()
        asked.resolve()
        await held.promise
        await route.fulfill({ response: before })
      })
      await page.reload()
      await asked.promise
      const taken = page.waitForResponse((response) => response.status() === 202)
      await choose(page, textFile('Early.txt', 'The first train leaves at five.'))
      await taken
      held.resolve()
      await state(page, 'Early', en['kb.state.ready'])
    },
    TIMEOUT_MS,
  )

  test(
    'files that wait, and those that cannot be sent, say so',
    async () => {
      await using guest = await kb.open()
      const { page } = guest
      const held = Promise.withResolvers<void>()
      await page.route('**/console/kb/files', async (route) => {
        await held.promise
        await route.continue()
      })
      const large = textFile('Large.txt', 'x'.repeat(1024 * 1024 + 1))
      await choose(page, textFile('One.txt', 'One.'), textFile('Two.txt', 'Two.'), large)
      await row(page, 'One.txt')
        .getByText(/^Sending \d+ %$/)
        .waitFor()
      await row(page, 'Two.txt').getByText(en['kb.upload.waiting']).waitFor()
      await row(page, 'Large.txt')
        .getByText(fill(en['kb.upload.large'], { max: 1 }))
        .waitFor()
      await choose(page, textFile('Empty.txt', ''))
      await row(page, 'Empty.txt').getByText(en['kb.upload.empty']).waitFor()
      expect(await seriousFindings(page)).toEqual([])
      // Files are sent on while another page is open.
      await goTo(page, 'nav.apps')
      await page.getByRole('heading', { level: 1, name: 'Assistants' }).waitFor()
      held.resolve()
      await page.goBack()
      await state(page, 'One', en['kb.state.ready'])
      await state(page, 'Two', en['kb.state.ready'])
      const drop = fill(en['kb.upload.drop'], { name: 'Large.txt' })
      await page.getByRole('button', { name: drop }).click()
      await row(page, 'Large.txt').waitFor({ state: 'detached' })
    },
    TIMEOUT_MS,
  )

  test(
    'a file waits when the server has too many of them in work',
    async () => {
      await using guest = await kb.open({}, (page) => page.clock.install())
      const { page } = guest
      const refused = Promise.withResolvers<void>()
      await page.route(
        '**/console/kb/files',
        async (route) => {
          await route.fulfill({ status: 429, headers: { 'x-error-code': 'too_many_waiting' } })
          refused.resolve()
        },
        { times: 1 },
      )
      await choose(page, textFile('Late.txt', 'Better late than never.'))
      await refused.promise
      await row(page, 'Late.txt').getByText(en['kb.upload.waiting']).waitFor()
      const sent = page.waitForResponse((response) => response.status() === 202)
      await page.clock.runFor(10_000)
      await sent
      await kb.console.app.jobs.idle()
      await page.clock.runFor(5_000)
      await state(page, 'Late', en['kb.state.ready'])
    },
    TIMEOUT_MS,
  )

  test(
    'a file of the same name is noticed, and replaces the old one once it is ready',
    async () => {
      await using guest = await kb.open()
      const { page, session } = guest
      await choose(page, textFile('Prices.txt', 'A cup costs two euros.'))
      await state(page, 'Prices', en['kb.state.ready'])
      await choose(page, textFile('Prices.txt', 'A cup costs two euros.'))
      await page.getByText(fill(en['kb.twin.same'], { title: 'Prices' })).waitFor()
      const drop = fill(en['kb.upload.drop'], { name: 'Prices.txt' })
      await page.getByRole('button', { name: drop }).click()

      await choose(page, textFile('Prices.txt', 'A cup costs three euros from May on.'))
      await page.getByText(fill(en['kb.twin.title'], { title: 'Prices' })).waitFor()
      await page.getByRole('button', { name: en['kb.twin.replace'] }).click()
      await page.getByText(en['kb.replaced']).waitFor()
      const sources = await kb.sourcesOf(session)
      expect(sources.map(({ char_count }) => char_count)).toEqual([36])
      await row(page, 'Prices').getByText('characters: 36').waitFor()
      await soon(() => row(page, 'Prices').count(), 1)
    },
    TIMEOUT_MS,
  )

  test(
    'files can be dropped on any part of the page, and asking ends when all is done',
    async () => {
      await using guest = await kb.open({}, (page) => page.clock.install())
      const { page } = guest
      const files = await page.evaluateHandle(() => {
        const transfer = new DataTransfer()
        transfer.items.add(new File(['Dropped on the heading.'], 'Dropped.txt'))
        return transfer
      })
      await page.dispatchEvent('h1', 'dragover', { dataTransfer: files })
      await page.getByText(en['kb.drop.now']).waitFor()
      await page.dispatchEvent('h1', 'drop', { dataTransfer: files })
      await row(page, 'Dropped').waitFor()
      await kb.console.app.jobs.idle()
      await page.clock.runFor(5_000)
      await state(page, 'Dropped', en['kb.state.ready'])
      const asked: string[] = []
      page.on('request', (request) => asked.push(new URL(request.url()).pathname))
      await page.clock.runFor(20_000)
      await page.evaluate(() => fetch('/healthz').then((response) => response.text()))
      expect(asked).toEqual(['/healthz'])
    },
    TIMEOUT_MS,
  )
})
