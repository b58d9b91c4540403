// Writes the manual pages that are generated from the code. See --help.
import { join } from 'node:path'
import { errorsPage } from './manual/errors.ts'
import { LANGUAGES } from './manual/language.ts'
import { licencesPage } from './manual/licences.ts'
import { settingsPage } from './manual/settings.ts'
import { readArguments, runScript } from './usage.ts'

const HELP = `Writes the generated pages of the manual (web/guides): settings from
src/config.ts, error codes from src/core, licences from the installed packages.

  bun scripts/manual.ts

A test fails while a page differs from the output of this script.
`

const root = join(import.meta.dir, '..')

const PAGES = { settings: settingsPage, errors: errorsPage, licences: licencesPage }

/** The generated pages by repository path. */
export function generatedPages(): Map<string, string> {
  const pages = LANGUAGES.flatMap((language) =>
    Object.entries(PAGES).map(
      ([name, write]) => [`web/guides/${language}/${name}.md`, write(language, root)] as const,
    ),
  )
  return new Map(pages)
}

async function main(args: string[]): Promise<void> {
  readArguments({ args })
  for (const [path, text] of generatedPages()) {
    const file = Bun.file(join(root, path))
    if ((await file.exists()) && (await file.text()) === text) continue
    await Bun.write(file, text)
    process.stdout.write(`${path}\n`)
  }
}

if (import.meta.main) await runScript(HELP, main)
