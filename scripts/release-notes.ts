// Prints the notes of a release. See --help.
import { join } from 'node:path'
import { readArguments, runScript, UsageError } from './usage.ts'

const HELP = `Prints the section of a version in CHANGELOG.md, as its release notes. Fails when
package.json has another version, or when the section is missing, empty or not dated.

  bun scripts/release-notes.ts v0.1.0
`

const root = join(import.meta.dir, '..')

/** The text below `## VERSION (DATE)`; throws a `UsageError` when a part is missing. */
export function releaseNotes(tag: string, changelog: string, version: string): string {
  const wanted = tag.replace(/^v/, '')
  if (wanted !== version) {
    throw new UsageError(`the tag is ${tag} and package.json says ${version}`)
  }
  const sections = changelog.split(/^## /m).slice(1)
  const section = sections.find((text) => text.startsWith(`${version} `))
  if (section === undefined) throw new UsageError(`CHANGELOG.md has no section ${version}`)
  const [heading = '', ...lines] = section.split('\n')
  if (!/\(\d{4}-\d{2}-\d{2}\)$/.test(heading)) {
    throw new UsageError(`the section ${version} of CHANGELOG.md has no date: ## ${version} (DATE)`)
  }
  const notes = lines.join('\n').trim()
  if (notes === '') throw new UsageError(`the section ${version} of CHANGELOG.md is empty`)
  return `${notes}\n`
}

/** What no release has yet; throws a `UsageError` when that is nothing. */
export function unreleasedNotes(changelog: string): string {
  const sections = changelog.split(/^## /m).slice(1)
  const [, ...lines] = (sections.find((text) => text.startsWith('Unreleased')) ?? '').split('\n')
  const notes = lines.join('\n').trim()
  if (notes === '') throw new UsageError('CHANGELOG.md has nothing below "Unreleased"')
  return `${notes}\n`
}

if (import.meta.main) {
  await runScript(HELP, async (args) => {
    const { positionals } = readArguments({ args, allowPositionals: true })
    const [tag, ...more] = positionals
    if (tag === undefined || more.length > 0) throw new UsageError('name one tag, such as v0.1.0')
    const changelog = await Bun.file(join(root, 'CHANGELOG.md')).text()
    const { version } = await Bun.file(join(root, 'package.json')).json()
    process.stdout.write(releaseNotes(tag, changelog, version))
  })
}
