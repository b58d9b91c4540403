import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ON_POSTGRES, type TestApp } from './app.ts'

const decoded = (row: string) =>
  row.replaceAll(/\\x([\da-f]+)/g, (_, hex: string) => Buffer.from(hex, 'hex').toString('latin1'))

/**
 * The whole content of the database, bytes as Latin-1: its files in the data folder, or its tables.
 */
export async function storedIn(app: TestApp, dataDir = app.dataDir): Promise<string> {
  if (!ON_POSTGRES) {
    const names = readdirSync(dataDir).filter((name) => name.startsWith('moonbase.db'))
    return names.map((name) => readFileSync(join(dataDir, name), 'latin1')).join('\n')
  }
  const all = <Row>(sql: string) => app.db.all<Row>({ sql, args: [] })
  const tables = await all<{ name: string }>(`
    SELECT quote_ident(table_name) AS name FROM information_schema.tables
    WHERE table_schema = current_schema()`)
  const rows = await Promise.all(
    tables.map(({ name }) => all<{ row: string }>(`SELECT CAST(t AS text) AS row FROM ${name} t`)),
  )
  return rows
    .flat()
    .map(({ row }) => decoded(row))
    .join('\n')
}
