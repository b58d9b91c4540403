import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { SEAL_OWNERS } from '../../src/commands/resealing.ts'
import { MIGRATIONS } from '../../src/storage/migrations/index.ts'
import { SEALED } from '../../src/storage/sqlite/inspect.ts'

/** `table.column` of each column whose name says that it is sealed. */
function sealedColumns(): string[] {
  using file = new Database(':memory:')
  for (const { sql } of MIGRATIONS) file.run(sql)
  return file
    .query<{ place: string }, []>(
      `SELECT t.name || '.' || c.name AS place
       FROM sqlite_schema t JOIN pragma_table_info(t.name) c
       WHERE t.type = 'table' AND c.name LIKE '%sealed%' ORDER BY place`,
    )
    .all()
    .map(({ place }) => place)
}

test('every sealed column is looked for by the doctor, and sealed anew by a migration', () => {
  const columns = sealedColumns()
  expect(columns.length).toBeGreaterThan(7)
  expect(SEALED.map((place) => place.join('.')).sort()).toEqual(columns)
  const renewed = Object.entries(SEAL_OWNERS).flatMap(([table, owners]) =>
    Object.keys(owners({})).map((column) => `${table}.${column}`),
  )
  expect(renewed.sort()).toEqual(columns)
})
