import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Glob } from 'bun'
import { ROOT } from '../support/command.ts'

const read = (path: string) => Bun.file(join(ROOT, path)).text()
const decisions = readdirSync(join(ROOT, 'src/decisions'))
  .filter((name) => name !== 'README.md')
  .sort()

/** What a reader is ready to read of each at one time. */
const LINES_MAX: Readonly<Record<string, number>> = {
  'README.md': 120,
  'CONTRIBUTING.md': 300,
  'src/README.md': 210,
  'test/support/README.md': 80,
}

describe.each([...Object.keys(LINES_MAX), 'SECURITY.md', 'CHANGELOG.md'])('%s', (path) => {
  test(`${path} links to files that exist`, async () => {
    for (const [, link = ''] of (await read(path)).matchAll(/\]\((?!https?:|#)([^)#]+)/g)) {
      expect([link, existsSync(join(ROOT, dirname(path), link))]).toEqual([link, true])
    }
  })

  test(`${path} names files that exist`, async () => {
    const text = await read(path)
    // A way through the code names its folder once: **A file is uploaded** (`features/knowledge/`).
    const heads = text.matchAll(/(?:^\*\*.*\(|Open, in )`([\w/]+\/)`/gm)
    const rooms = [...heads].map(([, room]) => `src/${room}`)
    const folders = ['', dirname(path), 'src', ...rooms]
    for (const [, name = ''] of text.matchAll(/`([\w.-]+(?:\/[\w.-]+)+\.\w+)`/g)) {
      const found = folders.some((folder) => existsSync(join(ROOT, folder, name)))
      expect([name, found]).toEqual([name, true])
    }
  })

  test(`${path} names functions by the files that have them`, async () => {
    const named = [...(await read(path)).matchAll(/`([\w/.-]+\.ts)` \(`#?(\w+)`/g)]
    for (const [, file = '', name = ''] of named) {
      const found = [...new Glob(`src/**/${file}`).scanSync(ROOT)]
      const texts = await Promise.all(found.map(read))
      const made = `(?:const|function|class) ${name}\\b|^ +(?:async )?#?${name}(?:: |\\()`
      const isThere = texts.some((text) => new RegExp(made, 'm').test(text))
      expect([file, name, isThere]).toEqual([file, name, true])
    }
  })

  test(`${path} names in a table the files of its folder`, async () => {
    const tables = (await read(path)).matchAll(/Open, in `([\w/]+)\/`[^\n]*\n((?:\|.*\n)+)/g)
    for (const [, room = '', rows = ''] of tables) {
      for (const [, name = ''] of rows.matchAll(/`([\w/-]+\.\w+)`/g)) {
        const isThere = [`src/${room}`, 'src'].some((one) => existsSync(join(ROOT, one, name)))
        expect([room, name, isThere]).toEqual([room, name, true])
      }
    }
  })

  test(`${path} is at most as long as its limit`, async () => {
    const lines = (await read(path)).trimEnd().split('\n').length
    expect(lines).toBeLessThanOrEqual(LINES_MAX[path] ?? 300)
  })
})

describe.each(decisions)('the decision %s', (name) => {
  test(`${name} has its number, its date and its parts on one page`, async () => {
    const text = await read(`src/decisions/${name}`)
    expect(name).toMatch(/^\d{3}-[a-z0-9-]+\.md$/)
    expect(text).toStartWith(`# ${name.slice(0, 3)}. `)
    expect(text).toMatch(/^Date: \d{4}-\d{2}-\d{2}$/m)
    const parts = [...text.matchAll(/^## (.+)$/gm)].map(([, title]) => title)
    expect(parts.filter((part) => part !== 'Figure')).toEqual([
      'Context',
      'Decision',
      'Revisit when',
    ])
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(45)
  })
})

test('the index of decisions names each by its title', async () => {
  const index = await read('src/decisions/README.md')
  for (const name of decisions) {
    const [, title = ''] = /^# \d+\. (.*)$/m.exec(await read(`src/decisions/${name}`)) ?? []
    expect(index).toContain(`](${name}) ${title}\n`)
  }
})

test('no two decisions have the same number', () => {
  const numbers = decisions.map((name) => name.slice(0, 3))
  expect(new Set(numbers).size).toBe(numbers.length)
})
