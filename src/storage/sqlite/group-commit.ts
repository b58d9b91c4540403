import type { Database } from 'bun:sqlite'
import type { Statement } from '../db.ts'
import { statements } from './connection.ts'
import { type Fault, faultOf } from './fault.ts'

export type BatchResult = { readonly changes: number[] } | Fault

/**
 * Commits many independent batches with one flush to disk (group commit). All of them usually
 * succeed, so they run in one transaction without savepoints; when one fails, the group is rolled
 * back and each batch runs in a transaction of its own, so that only the culprit fails.
 */
export function groupWriter(db: Database) {
  const prepared = statements(db)
  const apply = (batch: readonly Statement[]) => batch.map((statement) => prepared.run(statement))
  const together = db.transaction((batches: readonly (readonly Statement[])[]) =>
    batches.map((batch) => ({ changes: apply(batch) })),
  )
  const alone = db.transaction(apply)

  return {
    write(batches: readonly (readonly Statement[])[]): BatchResult[] {
      try {
        return together.immediate(batches)
      } catch (error) {
        if (batches.length === 1) return [faultOf(error)]
      }
      return batches.map((batch) => {
        try {
          return { changes: alone.immediate(batch) }
        } catch (error) {
          return faultOf(error)
        }
      })
    },
    close: prepared.close,
  }
}
