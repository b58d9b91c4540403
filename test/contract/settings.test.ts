import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { help } from '../../src/commands/help.ts'
import { SETTINGS } from '../../src/config.ts'
import { ROOT } from '../support/command.ts'

const NAMES = Object.keys(SETTINGS)

/** Names of settings in the order in which they stand in a text, each once. */
const namesIn = (text: string) => [...new Set(text.match(/\bMB_[A-Z0-9_]+\b/g) ?? [])]

test('the README has a row for every setting and for no other', async () => {
  const readme = await Bun.file(join(ROOT, 'README.md')).text()
  const table = readme.split('<!-- settings -->')[1]?.split('\n\n')[0] ?? ''
  const first = table.split('\n').map((row) => row.split('|')[1] ?? '')
  expect(namesIn(first.join('\n')).sort()).toEqual([...NAMES].sort())
})

test('--help says something about every setting', () => {
  const rows = help().split('\n')
  for (const name of NAMES) {
    expect(rows.find((row) => row.startsWith(`  ${name} `))).toMatch(/^ {2}\w+ +\S.{5,}/)
  }
})
