import { prepareRuntime } from '../../src/native/runtime.ts'
import { MIGRATIONS } from '../../src/storage/migrations/index.ts'
import { openSqlite } from '../../src/storage/sqlite/db.ts'
import { migrate } from '../../src/storage/sqlite/migrate.ts'
import { createReadThread } from '../../src/storage/sqlite/read-thread.ts'
import { createVectorIndex } from '../../src/storage/sqlite/vectors.ts'
import { createWordIndex } from '../../src/storage/sqlite/words.ts'

const thread = (name: string) =>
  new URL(`../../src/storage/sqlite/${name}.ts`, import.meta.url).href

/** A migrated database in `folder` with both search indexes, opened as the product does. */
export async function openIndexes(folder: string) {
  const { vec0 } = await prepareRuntime(folder)
  const file = { path: `${folder}/test.db`, extensions: [vec0] }
  migrate(file, MIGRATIONS, 'test')
  const db = await openSqlite(file, thread('writer'))
  const reader = createReadThread(file, thread('reader'))
  return {
    db,
    reader,
    vectors: createVectorIndex(reader),
    words: createWordIndex(reader),
    async [Symbol.asyncDispose]() {
      await reader.close()
      await db.close()
    },
  }
}
