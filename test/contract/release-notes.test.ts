import { expect, test } from 'bun:test'
import { releaseNotes, unreleasedNotes } from '../../scripts/release-notes.ts'

const CHANGELOG = `# Changelog

## Unreleased

- Not out yet.

## 1.2.0 (2026-12-01)

- New.

### Fixed

- Old.

## 1.1.0 (2026-11-01)

- Older.
`

test('the notes of a release are its section of the changelog and no other', () => {
  expect(releaseNotes('v1.2.0', CHANGELOG, '1.2.0')).toBe('- New.\n\n### Fixed\n\n- Old.\n')
})

test.each([
  ['v1.3.0', '1.2.0', 'the tag is v1.3.0 and package.json says 1.2.0'],
  ['v1.2.1', '1.2.1', 'CHANGELOG.md has no section 1.2.1'],
])('a release %s of version %s is refused: %s', (tag, version, sentence) => {
  expect(() => releaseNotes(tag, CHANGELOG, version)).toThrow(sentence)
})

test.each([
  ['## 1.0.0 (unreleased)\n\n- x\n', 'has no date'],
  ['## 1.0.0 (2026-12-01)\n\n', 'is empty'],
])('a section that is not finished is refused: %j', (changelog, sentence) => {
  expect(() => releaseNotes('v1.0.0', changelog, '1.0.0')).toThrow(sentence)
})

test('the notes of a draft are what no release has yet', () => {
  expect(unreleasedNotes(CHANGELOG)).toBe('- Not out yet.\n')
  expect(() => unreleasedNotes('# Changelog\n\n## Unreleased\n')).toThrow('nothing below')
})
