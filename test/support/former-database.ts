// To be deleted in 0.2, with src/storage/before-first-release.ts.
import { expect } from 'bun:test'
import { join } from 'node:path'
import { ROOT } from './command.ts'

export type Row = Record<string, unknown>

/**
 * A fixture of the builds before 0.1.0. before-0.1.* are of the last one that had many migrations;
 * before-0.1-19.db and before-0.1-4.sql lack the last five of them. Of the builds after it, whose
 * first migration had all tables of then, before-0.1-init.db has no other, before-0.1-files.sql two
 * others, and before-0.1-runs.* have all thirteen.
 */
export const unpacked = async (name: string) =>
  Bun.gunzipSync(await Bun.file(join(ROOT, 'test', 'fixtures', 'databases', name)).arrayBuffer())

type Content = Readonly<Record<string, readonly Row[]>>

/**
 * Expects the rows of `before`, by table, in `after`, where they may have more columns. What runs
 * ask is in a table of its own.
 */
export function expectKept(before: Content, after: Content): void {
  for (const [table, rows] of Object.entries(before)) {
    expect(after[table], table).toHaveLength(rows.length)
    for (const { request = null, ...row } of rows) {
      expect(after[table]).toContainEqual(expect.objectContaining(row))
      if (request === null) continue
      expect(after.run_ask).toContainEqual({ run_id: row.id, ask: request })
    }
  }
}

export const COUNTS = 'SELECT day, status, latency_ms, count FROM request_log_count ORDER BY day'
/** The rows of the request log, which are of one day and status, and have one latency. */
export const COUNTED = [-1, 20513].map((day) => ({ day, status: 200, latency_ms: 12, count: 2 }))

export const SESSIONS = 'SELECT id, num, index_below FROM session ORDER BY num'
/** Their turns are still to be indexed. */
export const NUMBERED = [
  { id: 's', num: 1, index_below: 16777216 },
  { id: 'named', num: 2, index_below: 16777216 },
]
