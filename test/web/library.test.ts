import { afterAll, expect, test } from 'bun:test'
import type { LibraryResponse } from '../../src/features/knowledge/library/model.ts'
import { en } from '../../web/i18n/en.ts'
import type { Key } from '../../web/i18n/index.tsx'
import { caller } from '../support/api.ts'
import { seriousFindings } from '../support/axe.ts'
import { scannedPdf, setScans } from '../support/scans.ts'
import { longText } from '../support/sources.ts'
import { startUpstream } from '../support/upstream.ts'
import { act, choose, fill, HANDBOOK, row, state, textFile, useKnowledgeBase } from './kb-page.ts'
import { describeWeb } from './setup.ts'

const TIMEOUT_MS = 60_000
const ASK = 'How long is the warranty of batteries?'

describeWeb('what is done with documents', () => {
  const kb = useKnowledgeBase()

  test(
    'several are moved to a collection, one is renamed, and the others are deleted',
    async () => {
      await using guest = await kb.open()
      const { page } = guest
      const files = Array.from({ length: 4 }, (_, i) => textFile(`Note ${i}.txt`, `Note ${i}.`))
      await choose(page, ...files)
      for (const { name } of files) {
        await state(page, name.replace('.txt', ''), en['kb.state.ready'])
      }
      await page.getByRole('button', { name: en['kb.collections.add'] }).click()
      await page.getByRole('dialog').getByRole('textbox').fill('Shop')
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Shop · 0' }).waitFor()

      await page.getByRole('button', { name: en['kb.select'] }).click()
      for (const name of ['Note 1', 'Note 2', 'Note 3']) {
        await page.getByRole('checkbox', { name, exact: true }).click()
      }
      const to = page.getByRole('combobox', { name: en['kb.collections.move'] })
      await to.selectOption('Shop')
      await page.getByRole('button', { name: en['kb.collections.go'], exact: true }).click()
      await page.getByRole('button', { name: 'Shop · 3' }).click()
      await row(page, 'Note 0').waitFor({ state: 'detached' })
      expect(await row(page, 'Note').count()).toBe(3)
      await page.getByRole('button', { name: en['action.cancel'] }).click()

      await act(page, 'Note 2', en['kb.rename'])
      const dialog = page.getByRole('dialog')
      const save = dialog.getByRole('button', { name: en['action.save'] })
      await dialog.getByRole('textbox').fill('Opening hours')
      expect(await seriousFindings(page)).toEqual([])
      await save.click()
      await state(page, 'Opening hours', en['kb.state.ready'])
      await row(page, 'Note 2').waitFor({ state: 'detached' })

      await page.getByRole('button', { name: en['kb.select'] }).click()
      for (const name of ['Note 1', 'Note 3']) {
        await page.getByRole('checkbox', { name, exact: true }).click()
      }
      await page.getByRole('button', { name: en['action.delete'], exact: true }).click()
      await page.getByRole('button', { name: 'Delete 2' }).click()
      await page.getByRole('button', { name: 'Shop · 1' }).waitFor()
      await page.getByRole('button', { name: en['kb.collections.all'], exact: true }).click()
      await row(page, 'Note 0').waitFor()
      await row(page, 'Opening hours').waitFor()
      expect(guest.complaints).toEqual([])
    },
    TIMEOUT_MS,
  )

  test(
    'several acts are counted, can be stopped, and name what failed, to be tried again',
    async () => {
      await using guest = await kb.open()
      const { page } = guest
      const files = Array.from({ length: 7 }, (_, i) => textFile(`Note ${i}.txt`, `Note ${i}.`))
      await choose(page, ...files)
      for (const { name } of files) {
        await state(page, name.replace('.txt', ''), en['kb.state.ready'])
      }
      const bar = (key: Key, values: Record<string, number>) =>
        page.getByText(fill(en[key], values))
      const selectAll = async () => {
        await page.getByRole('button', { name: en['kb.select'] }).click()
        await page.getByRole('checkbox', { name: en['kb.select.all'] }).click()
      }
      const deleteAll = async (count: number) => {
        await page.getByRole('button', { name: en['action.delete'], exact: true }).click()
        await page.getByRole('button', { name: fill(en['kb.delete.go'], { count }) }).click()
      }
      // Four are asked for at once: those after the first wait until it was stopped, and then fail.
      let asked = 0
      const held = Promise.withResolvers<void>()
      await page.route('**/console/kb/sources/*', async (route) => {
        const isOther = route.request().method() !== 'DELETE'
        if (isOther || ++asked === 1 || asked > 5) return route.continue()
        await held.promise
        await route.fulfill({ status: 503, body: '' })
      })
      await selectAll()
      await deleteAll(7)
      await bar('kb.bulk.delete', { done: 1, all: 7 }).waitFor()
      await page.getByRole('button', { name: en['kb.bulk.stop'] }).click()
      held.resolve()
      await bar('kb.bulk.ended', { done: 1, all: 7 }).waitFor()
      await bar('kb.bulk.ended.failed', { count: 4 }).waitFor()
      await bar('kb.bulk.ended.left', { count: 2 }).waitFor()
      const failed = page.getByRole('listitem').filter({ hasText: en['error.unavailable'] })
      await failed.filter({ hasText: 'Note' }).first().waitFor()
      expect(await failed.count()).toBe(4)
      expect(asked).toBe(5)
      expect(await seriousFindings(page)).toEqual([])
      await page.getByRole('button', { name: fill(en['kb.bulk.retry'], { count: 6 }) }).click()
      await page.getByText(en['kb.empty']).waitFor()
      expect(asked).toBe(11)
    },
    TIMEOUT_MS,
  )

  test(
    'what somebody else has deleted first, or the server takes later, is no failure of a deletion',
    async () => {
      await using guest = await kb.open()
      const { page, session } = guest
      const files = Array.from({ length: 3 }, (_, i) => textFile(`Note ${i}.txt`, `Note ${i}.`))
      await choose(page, ...files)
      for (const { name } of files) {
        await state(page, name.replace('.txt', ''), en['kb.state.ready'])
      }
      await page.getByRole('button', { name: en['kb.select'] }).click()
      await page.getByRole('checkbox', { name: en['kb.select.all'] }).click()
      const [first] = await kb.sourcesOf(session)
      const call = caller(`${kb.console.app.url}/console`, session.headers)
      expect((await call('DELETE', `/kb/sources/${first?.id}`)).status).toBe(200)
      const refused = new Set<string>()
      await page.route('**/console/kb/sources/*', async (route) => {
        const { size } = refused
        if (refused.add(route.request().url()).size === size) return route.continue()
        await route.fulfill({ status: 429, body: '' })
      })
      await page.getByRole('button', { name: en['action.delete'], exact: true }).click()
      await page.getByRole('button', { name: fill(en['kb.delete.go'], { count: 3 }) }).click()
      await page.getByRole('status').filter({ hasText: en['kb.bulk.limited'] }).waitFor()
      await page.getByText(en['kb.deleted'], { exact: true }).waitFor()
      await page.getByText(en['kb.empty']).waitFor()
      expect(refused.size).toBe(3)
    },
    TIMEOUT_MS,
  )

  test(
    'a collection gets another name and keeps its description',
    async () => {
      await using guest = await kb.open()
      const { page, session } = guest
      const call = caller(`${kb.console.app.url}/console`, session.headers)
      const shop = { name: 'Shop', description: 'What we sell' }
      expect((await call('POST', '/kb/collections', shop)).status).toBe(201)
      await page.reload()
      await page.getByRole('button', { name: 'Shop · 0' }).click()
      await page.getByRole('button', { name: en['kb.collections.rename'] }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('textbox').fill(' ')
      await dialog.getByRole('textbox').press('Enter')
      await dialog.getByText(en['form.missing']).waitFor()
      await dialog.getByRole('textbox').fill('Store')
      await dialog.getByRole('textbox').press('Enter')
      await page.getByRole('button', { name: 'Store · 0' }).waitFor()
      await dialog.waitFor({ state: 'detached' })
      const { collections } = (await call('GET', '/kb/collections')).json()
      expect(collections).toMatchObject([{ name: 'Store', description: 'What we sell' }])
      expect(guest.complaints).toEqual([])
    },
    TIMEOUT_MS,
  )

  test(
    'a document opens with its text and pages, and the conversations that cite it',
    async () => {
      await using guest = await kb.open()
      const { page, session } = guest
      await choose(page, HANDBOOK)
      await state(page, 'Handbook', en['kb.state.ready'])
      const [source] = await kb.sourcesOf(session)
      await page.goto(`/app/kb/${source?.doc_ids[0]}`)
      await page.getByText(en['kb.cited.none']).waitFor()
      await page.getByText('Tuesdays').waitFor()
      await page.getByRole('combobox', { name: en['kb.doc.pages'] }).selectOption('p. 3')
      await page.locator('[aria-current=true]', { hasText: 'Tuesdays' }).waitFor()

      const body = JSON.stringify({ text: ASK, session_id: 'cites' })
      const turn = { method: 'POST', headers: session.headers, body }
      await (await fetch(`${kb.console.app.url}/console/agent`, turn)).text()
      await page.reload()
      const cited = page.locator('details', { hasText: en['kb.cited'] })
      await cited.getByRole('link', { name: fill(en['kb.chunk'], { number: 2 }) }).click()
      await page.locator('[aria-current=true]', { hasText: 'eighteen months' }).waitFor()
      expect(await seriousFindings(page)).toEqual([])
      await cited.getByRole('link', { name: ASK }).click()
      await page.waitForURL(/session=cites/)
      await page.getByText(ASK).first().waitFor()
      expect(guest.complaints).toEqual([])
    },
    TIMEOUT_MS,
  )

  test(
    'the page says what takes the most room, and near the limit who can raise it',
    async () => {
      await using guest = await kb.open()
      const { page } = guest
      await choose(page, textFile('Rules.md', longText(3)))
      await page.getByText(fill(en['kb.room.largest'], { title: 'Rules', count: 3 })).waitFor()
      expect(await page.getByText(en['kb.room.ask']).count()).toBe(0)
      await page.route('**/console/kb/limits', async (route) => {
        const answer = await route.fetch()
        await route.fulfill({ json: { ...(await answer.json()), docs_max: 3 } })
      })
      await page.reload()
      await page.getByText(en['kb.full']).waitFor()
      await page.getByText(en['kb.room.ask']).waitFor()
    },
    TIMEOUT_MS,
  )
})

const upstream = await startUpstream()
afterAll(() => upstream.stop())

describeWeb('scans of the knowledge base', () => {
  const kb = useKnowledgeBase(upstream.baseUrl)

  test(
    'without text are told, and are read again once a model may and can see them',
    async () => {
      await using guest = await kb.open()
      const { page, session } = guest
      const scan = (name: string) => ({
        name: `${name}.pdf`,
        mimeType: 'application/pdf',
        buffer: Buffer.from(scannedPdf([null, null])),
      })
      await choose(page, scan('Letter'))
      await state(page, 'Letter', en['kb.state.failed'])
      await row(page, 'Letter').getByText(en['kb.fail.no_text']).waitFor()
      await row(page, 'Letter').getByRole('button', { name: en['kb.again'] }).waitFor()
      expect(upstream.requests).toHaveLength(0)

      upstream.chat.alwaysFault(400)
      expect(await setScans(kb.console.app, { ...session, tenantId: '' })).toBe(200)
      await choose(page, scan('Invoice'))
      await row(page, 'Invoice').getByText(en['kb.fail.no_vision']).waitFor()
      await row(page, 'Invoice').getByRole('button', { name: en['kb.read.again'] }).waitFor()
      expect(await seriousFindings(page)).toEqual([])

      let pages = 0
      upstream.chat.always(() => ({ text: `Page ${++pages} of the invoice is due in May.` }))
      await page.getByRole('button', { name: en['kb.select'] }).click()
      await page.getByText(fill(en['kb.chosen'], { count: 0, all: 2 })).click()
      // The letter is not kept: it can only be sent again.
      await page.getByRole('button', { name: fill(en['kb.check.several'], { count: 1 }) }).click()
      await state(page, 'Invoice', en['kb.state.ready'])
      await row(page, 'Invoice')
        .getByText(fill(en['kb.fact.ocr'], { count: 2 }))
        .waitFor()
      await row(page, 'Invoice').getByRole('link', { name: 'Invoice' }).click()
      await page.getByText(en['kb.chunk.ocr']).first().waitFor()
      await page.getByText('is due in May').first().waitFor()
      expect(guest.complaints).toEqual([])
    },
    TIMEOUT_MS,
  )

  test(
    'that wait for their model say which one did not answer',
    async () => {
      await using guest = await kb.open()
      const { page } = guest
      await choose(page, textFile('Plan.txt', 'The plan of the house.'))
      await state(page, 'Plan', en['kb.state.ready'])
      const waiting = {
        state: 'reading',
        pages: 4,
        pages_done: 1,
        retry_at: '2030-01-02T03:04:05Z',
      }
      await page.route('**/console/library?*', async (route) => {
        const told = (await (await route.fetch()).json()) as LibraryResponse
        const items = told.items.map(({ source, doc }) => ({
          source: { ...source, ...waiting },
          doc,
        }))
        await route.fulfill({ json: { ...told, items } })
      })
      await page.reload()
      const words = en['kb.retry.scan'].split('{at}')[0] ?? ''
      await row(page, 'Plan').getByText(words).waitFor()
    },
    TIMEOUT_MS,
  )
})
