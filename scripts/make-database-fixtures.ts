// Writes the databases of earlier versions for the upgrade tests. See --help.
import { Database } from 'bun:sqlite'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MIGRATIONS } from '../src/storage/migrations/index.ts'
import { migrate } from '../src/storage/sqlite/migrate.ts'
import { type Row, SEEDS } from '../test/fixtures/databases/seed.ts'
import { readArguments, runScript } from './usage.ts'

const HELP = `Writes test/fixtures/databases/NAME.db.gz for each migration without such a file:
a database of the version whose newest migration it is, with rows in every table.
Run it once for a new migration, after adding rows of its tables to seed.ts.

  bun scripts/make-database-fixtures.ts [--anew]

  --anew   replaces the files that are there, too: before their versions are released
`

const folder = join(import.meta.dir, '..', 'test', 'fixtures', 'databases')

function insert(db: Database, table: string, row: Row): void {
  const names = Object.keys(row)
  const marks = names.map(() => '?').join(', ')
  db.query(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${marks})`).run(
    ...Object.values(row),
  )
}

function makeFixtures(scratch: string, anew: boolean): void {
  const path = join(scratch, 'moonbase.db')
  for (const [index, { name }] of MIGRATIONS.entries()) {
    migrate({ path, extensions: [] }, MIGRATIONS.slice(0, index + 1), name)
    const db = new Database(path)
    for (const [table, rows] of Object.entries(SEEDS[name] ?? {})) {
      for (const row of rows) insert(db, table, row)
    }
    db.run('PRAGMA wal_checkpoint(TRUNCATE)')
    db.close()
    const file = join(folder, `${name}.db.gz`)
    if (existsSync(file) && !anew) continue
    writeFileSync(file, Bun.gzipSync(readFileSync(path), { level: 9 }))
    process.stdout.write(`${file}\n`)
  }
}

await runScript(HELP, (args) => {
  const options = { anew: { type: 'boolean', default: false } } as const
  const { anew } = readArguments({ args, options }).values
  const scratch = mkdtempSync(join(tmpdir(), 'moonbase-fixtures-'))
  try {
    makeFixtures(scratch, anew)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
})
