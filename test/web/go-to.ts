import type { Page } from 'playwright-core'
import { en } from '../../web/i18n/en.ts'

type Texts = typeof en

const BUILD = [
  'nav.apps',
  'nav.kb',
  'nav.tools',
  'nav.devices',
  'nav.keys',
  'nav.activity',
] as const
const ACTIVITY = ['nav.logs', 'nav.usage'] as const
const WORKSPACE = [
  'nav.settings',
  'nav.provider',
  'nav.personas',
  'nav.members',
  'nav.audit',
  'nav.transfer',
] as const

export type PlaceName =
  | 'nav.chat'
  | (typeof BUILD)[number]
  | (typeof ACTIVITY)[number]
  | (typeof WORKSPACE)[number]

const isOneOf = (names: readonly string[], name: string) => names.includes(name)

/** Opens a page as a person does: by its door, its entry in the side bar, and its tab. */
export async function goTo(page: Page, name: PlaceName, t: Texts = en): Promise<void> {
  const press = (place: keyof Texts, link: keyof Texts) =>
    page
      .getByRole('navigation', { name: t[place], exact: true })
      .getByRole('link', { name: t[link] })
      .click()
  if (name === 'nav.chat') return press('nav.doors', 'nav.chat')
  if (isOneOf(WORKSPACE, name)) {
    await page.getByRole('button', { name: t['user.menu'] }).click()
    await page.getByRole('menuitem', { name: t['nav.tenant'] }).click()
    return press('nav.tabs', name)
  }
  await press('nav.doors', 'nav.build')
  await press('nav.label', isOneOf(ACTIVITY, name) ? 'nav.activity' : name)
  if (isOneOf(ACTIVITY, name)) await press('nav.tabs', name)
}
