// Writes test/fixtures/databases/NAME.db.gz for each migration that has none yet: a database as the
// version with that newest migration left it, with rows in every table. Run it once for a new
// migration, after giving its tables rows in seed.ts; files that are there stay as they are.
//   bun scripts/make-database-fixtures.ts [--anew]
import { Database } from 'bun:sqlite'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { MIGRATIONS } from '../src/storage/migrations/index.ts'
import { migrate } from '../src/storage/sqlite/migrate.ts'
import { type Row, SEEDS } from '../test/fixtures/databases/seed.ts'

const { values } = parseArgs({ options: { anew: { type: 'boolean', default: false } } })
const folder = join(import.meta.dir, '..', 'test', 'fixtures', 'databases')
const scratch = mkdtempSync(join(tmpdir(), 'moonbase-fixtures-'))

function insert(db: Database, table: string, row: Row): void {
  const names = Object.keys(row)
  const marks = names.map(() => '?').join(', ')
  db.query(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${marks})`).run(
    ...Object.values(row),
  )
}

try {
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
    if (existsSync(file) && !values.anew) continue
    writeFileSync(file, Bun.gzipSync(readFileSync(path), { level: 9 }))
    process.stdout.write(`${file}\n`)
  }
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
