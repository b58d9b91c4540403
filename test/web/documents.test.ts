import { expect, test } from 'bun:test'
import { en } from '../../web/i18n/en.ts'
import { seriousFindings } from '../support/axe.ts'
import { docxFile, paragraph } from '../support/office-files.ts'
import { startPageServer } from '../support/page-server.ts'
import { longText } from '../support/sources.ts'
import { act, choose, fill, HANDBOOK, row, state, textFile, useKnowledgeBase } from './kb-page.ts'
import { describeWeb, soon } from './setup.ts'

const TIMEOUT_MS = 60_000

const LETTER = {
  name: 'Letter.docx',
  mimeType: 'application/octet-stream',
  buffer: Buffer.from(
    docxFile(paragraph('Refunds', '1') + paragraph('Refunds arrive within three days.')),
  ),
}

describeWeb('documents of the knowledge base', () => {
  const kb = useKnowledgeBase()

  test(
    'files become ready, are found with page and heading, and open at their passage',
    async () => {
      await using guest = await kb.open()
      const { page, session } = guest
      await choose(page, HANDBOOK, LETTER)
      await state(page, 'Handbook', en['kb.state.ready'])
      await state(page, 'Letter', en['kb.state.ready'])
      await row(page, 'Handbook')
        .getByText(fill(en['kb.fact.pages'], { count: 3 }))
        .waitFor()

      await page
        .getByRole('searchbox', { name: en['kb.search.label'] })
        .fill('How long is the warranty of batteries?')
      await page.keyboard.press('Enter')
      const hit = page.locator('main ol > li', { hasText: 'eighteen months' })
      await hit.getByText('p. 2').waitFor()
      await hit.getByRole('button', { name: 'Handbook' }).click()
      const marked = (text: string) => page.locator('[aria-current=true]', { hasText: text })
      await page.getByRole('dialog').locator(marked('eighteen months')).waitFor()
      await page.getByRole('link', { name: en['kb.doc.open'] }).click()
      await page.getByRole('heading', { level: 1, name: 'Handbook' }).waitFor()
      await page.getByRole('main').locator(marked('p. 2')).waitFor()
      await page.getByText('Tuesdays').waitFor()
      expect(await seriousFindings(page)).toEqual([])

      // As the address of a citation, opened later.
      const [source] = (await kb.sourcesOf(session)).filter(({ title }) => title === 'Handbook')
      await page.goto(`/app/kb/${source?.doc_ids[0]}#0`)
      await marked('nine in the morning').waitFor()
      await page.goto(`/app/kb/${source?.doc_ids[0]}#77`)
      await page.getByText(en['kb.passage.gone']).waitFor()
      await page.goto('/app/kb/00000000-0000-7000-8000-000000000000#0')
      await page.getByText(en['kb.doc.gone'], { exact: true }).waitFor()
      expect(guest.complaints).toEqual([])
    },
    TIMEOUT_MS,
  )

  test(
    'the list says how often turns were shown a document',
    async () => {
      await using guest = await kb.open()
      const { page, session } = guest
      await choose(page, HANDBOOK)
      await state(page, 'Handbook', en['kb.state.ready'])
      const body = JSON.stringify({
        text: 'How long is the warranty of batteries?',
        session_id: 's',
      })
      const { app } = kb.console
      const turn = { method: 'POST', headers: session.headers, body }
      await (await fetch(`${app.url}/console/agent`, turn)).text()
      await page.reload()
      await row(page, 'Handbook')
        .getByText(fill(en['kb.fact.cited'], { count: 1 }))
        .waitFor()
    },
    TIMEOUT_MS,
  )

  test(
    'a long file has its parts folded, and deleting it says what goes along',
    async () => {
      await using guest = await kb.open()
      const { page, session } = guest
      await choose(page, textFile('Rules.md', longText(3)))
      await page.getByRole('button', { name: 'Rules', exact: true }).click()
      await page.getByRole('link', { name: 'Rules (2/3)' }).click()
      await page.getByRole('heading', { level: 1, name: 'Rules (2/3)' }).waitFor()
      await page.getByRole('link', { name: en['kb.part.after'] }).click()
      await page.getByRole('heading', { level: 1, name: 'Rules (3/3)' }).waitFor()
      await page.getByRole('link', { name: en['nav.kb'] }).last().click()
      await act(page, 'Rules', en['action.delete'])
      const question = page.getByRole('alertdialog')
      await question.getByText('documents: 3').waitFor()
      await question.getByRole('button', { name: en['action.delete'] }).click()
      await page.getByText(en['kb.empty'], { exact: true }).waitFor()
      expect(await kb.sourcesOf(session)).toEqual([])
    },
    TIMEOUT_MS,
  )

  test(
    'a web page is added, checked again when it changed, and marked when it is gone',
    async () => {
      using site = startPageServer()
      site.html('<title>Help centre</title><p>We answer within two days.</p>')
      await using guest = await kb.open()
      const { page, session } = guest
      await page.getByRole('button', { name: en['kb.page.add'] }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('textbox', { name: en['kb.page.url'] }).fill(site.url)
      await dialog.getByRole('combobox').selectOption('weekly')
      expect(await seriousFindings(page)).toEqual([])
      await page.keyboard.press('Escape')
      await dialog.getByRole('button', { name: en['action.add'] }).click()
      await state(page, 'Help centre', en['kb.state.ready'])
      expect((await kb.sourcesOf(session))[0]).toMatchObject({ refresh: 'weekly', url: site.url })

      // A check that cannot be asked for is over at once.
      await page.route('**/kb/sources/*/refresh', (route) => route.fulfill({ status: 500 }), {
        times: 1,
      })
      await act(page, 'Help centre', en['kb.check'])
      await page.getByText(en['error.internal']).waitFor()
      await state(page, 'Help centre', en['kb.state.ready'])

      site.html('<title>Help centre</title><p>We answer within four days from now on.</p>')
      await act(page, 'Help centre', en['kb.check'])
      await row(page, 'Help centre').getByText('characters: 39').waitFor()
      site.status(404)
      await act(page, 'Help centre', en['kb.check'])
      await page.getByText(en['kb.check.failed']).waitFor()
      for (let misses = 1; misses < 3; misses++) {
        await state(page, 'Help centre', en['kb.state.ready'])
        const seen = Promise.withResolvers<void>()
        site.serve(async () => {
          await seen.promise
          return new Response(null, { status: 404 })
        })
        await act(page, 'Help centre', en['kb.check'])
        await state(page, 'Help centre', en['kb.state.checking'])
        seen.resolve()
      }
      await state(page, 'Help centre', en['kb.state.gone'])
      await page.getByRole('button', { name: en['kb.page.add'] }).click()
      await dialog.getByRole('textbox', { name: en['kb.page.url'] }).fill(site.url)
      await dialog.getByText(fill(en['kb.page.twin'], { title: 'Help centre' })).waitFor()
    },
    TIMEOUT_MS,
  )

  test(
    'the documents page on a phone fits, scrolls to hits and deletes several documents',
    async () => {
      const title = 'unbroken'.repeat(22)
      await using guest = await kb.open({ width: 390, height: 800 })
      const { page } = guest
      const files = Array.from({ length: 12 }, (_, i) => textFile(`Note ${i}.txt`, `Note ${i}.`))
      await choose(page, textFile(`${title}.txt`, `Parcels ${title} leave on Tuesdays.`), ...files)
      for (const name of [title, 'Note 11']) await state(page, name, en['kb.state.ready'])
      await page
        .getByRole('searchbox', { name: en['kb.search.label'] })
        .fill('When do parcels leave?')
      await page.keyboard.press('Enter')
      const first = page.locator('main ol > li').first()
      await first.waitFor()
      await page.waitForFunction(() => {
        const hit = document.querySelector('main ol > li')?.getBoundingClientRect()
        return hit && hit.top >= 0 && hit.top < innerHeight * 0.8
      })
      const fits = () => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)
      await soon(fits, true)
      await first.getByRole('button').click()
      await page.locator('[aria-current=true]').waitFor()
      await page.getByRole('link', { name: en['kb.doc.open'] }).click()
      await page.getByRole('heading', { level: 1, name: title }).waitFor()
      await page.getByRole('main').getByText(`Parcels ${title}`).waitFor()
      await soon(fits, true)

      await page.getByRole('link', { name: en['nav.kb'] }).last().click()
      await page.getByRole('button', { name: en['kb.select'] }).click()
      await page.getByText(fill(en['kb.chosen'], { count: 0, all: 13 })).click()
      await page.getByText(fill(en['kb.chosen'], { count: 13, all: 13 })).waitFor()
      await page.getByRole('checkbox', { name: 'Note 3', exact: true }).click()
      await page.getByText(fill(en['kb.chosen'], { count: 12, all: 13 })).waitFor()
      await soon(fits, true)
      expect(await seriousFindings(page)).toEqual([])
      await page.getByRole('main').getByRole('button', { name: en['action.delete'] }).click()
      const question = page.getByRole('alertdialog', { name: /12/ })
      await question.getByText('documents: 12').waitFor()
      await question.getByRole('button', { name: 'Delete 12' }).click()
      await page.getByText(fill(en['kb.docs.count'], { count: 1, max: 50 })).waitFor()
      await row(page, 'Note 3').getByText(en['kb.state.ready']).waitFor()
    },
    TIMEOUT_MS,
  )
})
