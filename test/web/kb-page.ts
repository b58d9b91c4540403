import type { Page } from 'playwright-core'
import type { Source } from '../../src/features/knowledge/sources/model.ts'
import { en } from '../../web/i18n/en.ts'
import { visit } from '../support/chromium.ts'
import { type SignedIn, signIn } from '../support/login.ts'
import { pdfFile } from '../support/pdf-file.ts'
import { useConsole } from './setup.ts'

/** What the tests of the page of the knowledge base share. */

export interface GivenFile {
  readonly name: string
  readonly mimeType: string
  readonly buffer: Buffer
}

export const textFile = (name: string, text: string): GivenFile => ({
  name,
  mimeType: 'text/plain',
  buffer: Buffer.from(text),
})

export const HANDBOOK: GivenFile = {
  name: 'Handbook.pdf',
  mimeType: 'application/pdf',
  buffer: Buffer.from(
    pdfFile([
      { lines: ['The doors open at nine in the morning.'] },
      { lines: ['Batteries carry a warranty of eighteen months.'] },
      { lines: ['Parcels leave the house on Tuesdays.'] },
    ]),
  ),
}

export const fill = (text: string, values: Readonly<Record<string, string | number>>) =>
  text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]))

/** The row of the list that shows this. */
export const row = (page: Page, title: string) => page.locator('main li.entry', { hasText: title })

export const state = (page: Page, title: string, text: string) =>
  row(page, title).getByText(text, { exact: true }).waitFor()

export const choose = (page: Page, ...files: GivenFile[]) =>
  page.getByLabel(en['kb.choose']).last().setInputFiles(files)

/** Chooses from the menu of a row. */
export async function act(page: Page, title: string, action: string): Promise<void> {
  await page.getByRole('button', { name: fill(en['kb.actions'], { title }) }).click()
  await page.getByRole('menuitem', { name: action }).click()
}

/** A server that takes small files and cuts them into small documents; `upstream`: its model. */
export function useKnowledgeBase(upstream?: string) {
  const at = useConsole({
    ...(upstream === undefined ? {} : { upstream }),
    env: { MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1', MB_KB_MAX_DOC_KB: '2', MB_KB_MAX_FILE_MB: '1' },
  })
  let people = 0
  return {
    console: at,
    /** Each test has a person of its own, and so an empty knowledge base. */
    async open(
      look: { width?: number; height?: number } = {},
      prepare: (page: Page) => Promise<void> = async () => {},
    ) {
      const session = await signIn(at.app, `reader${people++}@example.com`)
      const guest = await visit(at.browser, at.app.url, { language: 'en', ...look }, session)
      await prepare(guest.page)
      await guest.page.goto('/app/kb')
      await guest.page.getByText(en['kb.empty'], { exact: true }).waitFor()
      return { ...guest, session }
    },
    async sourcesOf({ headers }: SignedIn): Promise<Source[]> {
      const response = await fetch(`${at.app.url}/console/kb/sources`, { headers })
      return ((await response.json()) as { sources: Source[] }).sources
    },
  }
}
