import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { generatedPages } from '../../scripts/manual.ts'
import { PASSPHRASE_CHARS_GOOD } from '../../src/commands/doctor/backup.ts'
import { help } from '../../src/commands/help.ts'
import { SETTINGS } from '../../src/config.ts'
import { MANUAL_PATHS } from '../../src/core/manual.ts'
import { GUIDE_IDS, guidePath } from '../../web/guides/pages.ts'
import { ROOT } from '../support/command.ts'

const NAMES = Object.keys(SETTINGS)
const read = (path: string) => Bun.file(join(ROOT, path)).text()

test('the server answers at every page of the manual and at no other', () => {
  const paths: readonly string[] = MANUAL_PATHS
  expect([...paths].sort()).toEqual([...GUIDE_IDS.map(guidePath), '/docs/reference'].sort())
})

describe('generated pages of the manual', () => {
  for (const [path, text] of generatedPages()) {
    test(`${path} is what bun scripts/manual.ts writes`, async () => {
      expect(await read(path)).toBe(text)
    })
  }
})

test.each(['zh', 'en'])(
  'the %s settings page has a row for every setting and no other',
  async (language) => {
    const page = await read(`web/guides/${language}/settings.md`)
    const rows = [...page.matchAll(/^\| `(MB_[A-Z0-9_]+)` \|.*\| (.+) \|$/gm)]
    expect(rows.map(([, name]) => name).sort()).toEqual([...NAMES].sort())
  },
)

test.each(['zh', 'en'])(
  'the %s manual prints no passphrase that doctor calls short',
  async (language) => {
    const page = await read(`web/guides/${language}/operate.md`)
    const printed = [...page.matchAll(/MB_BACKUP_PASSPHRASE='([^']+)'/g)].map(
      ([, word = '']) => word,
    )
    expect(printed.length).toBeGreaterThan(0)
    for (const word of printed) expect(word.length).toBeGreaterThanOrEqual(PASSPHRASE_CHARS_GOOD)
  },
)

test.each(['zh', 'en'])(
  'the %s manual names no page of the console that is not there',
  async (language) => {
    const router = await read('web/router.tsx')
    const pages = [...router.matchAll(/ page\(\s*'(\/[^']*)'/g)].map(([, path]) => `/app${path}`)
    expect(pages).toContain('/app/keys')
    for (const id of GUIDE_IDS) {
      const text = await read(`web/guides/${language}/${id}.md`)
      const named = [...text.matchAll(/\/app\/[a-z/-]*[a-z]/g)].map(([path]) => path)
      const missing = named.filter((path) => !pages.includes(path))
      expect({ id, missing }).toEqual({ id, missing: [] })
    }
  },
)

test('--help explains every setting', () => {
  const rows = help().split('\n')
  for (const name of NAMES) {
    expect(rows.find((row) => row.startsWith(`  ${name} `))).toMatch(/^ {2}\w+ +\S.{5,}/)
  }
})
