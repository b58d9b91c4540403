import { createSemaphore } from '../../core/semaphore.ts'
import type { Db, Reader } from '../db.ts'

/** Of the connections of a server, which turns need, too. */
const READS_AT_ONCE = 6

/**
 * Searches and scans on connections of the pool, a few at a time, so that the others stay free.
 * Tenants take turns statement by statement.
 */
export function createReader(db: Pick<Db, 'all'>): Reader {
  const turns = createSemaphore({ slots: READS_AT_ONCE })
  return {
    all: <Row>(tenantId: string, statement: Parameters<Db['all']>[0], signal?: AbortSignal) =>
      turns.run(tenantId, () => db.all<Row>(statement), signal),
  }
}
