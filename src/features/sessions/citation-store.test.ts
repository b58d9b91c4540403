import { expect, test } from 'bun:test'
import type { Reader, Statement } from '../../storage/db.ts'
import { createCitations } from './citation-store.ts'

const NOW = Date.UTC(2026, 10, 22, 12)
const at = (minutesAgo: number) => new Date(NOW - minutesAgo * 60_000).toISOString()
const SCOPE = { tenantId: 't', userId: null, seesOthers: true, kind: null }
const BOUNDS = { turnsAtOnce: 50, sessionsAtOnce: 7, turnsMax: 1_000 }
const DETAILS = JSON.stringify({ kb_refs: [{ doc_id: 'd', seq: 1 }] })

/** Sessions of ten turns, each a minute older; those of `isCiting` cite in each turn. */
function tenantOf(sessions: number, isCiting: (session: number) => boolean) {
  const asked: number[] = []
  let found = 0
  const nameOf = (session: number) => `s-${String(session).padStart(5, '0')}`
  async function all({ sql: text, args }: Statement): Promise<object[]> {
    if (text.includes('turn_count')) {
      const from = args.findLast((arg) => String(arg).startsWith('s-'))
      const first = from === undefined ? 0 : Number(String(from).slice(2)) + 1
      const page = Array.from({ length: Number(args.at(-1)) }, (_, n) => first + n)
      return page
        .filter((session) => session < sessions)
        .map((session) => ({ id: nameOf(session), last_at: at(session), turn_count: 10 }))
    }
    const ids = JSON.parse(String(args[0])) as string[][]
    asked.push(ids.length * 10)
    const citing = ids.map(([id]) => Number(id?.slice(2))).filter(isCiting)
    found += citing.length
    return citing.map((session) => {
      const row = { session_id: nameOf(session), seq: 1, created_at: at(session) }
      return { ...row, user_text: 'x', details: DETAILS }
    })
  }
  const reader = { all: (_: string, statement: Statement) => all(statement) } as unknown as Reader
  const citations = createCitations(reader, { now: () => NOW }, BOUNDS)
  return { list: () => citations(SCOPE, 'd'), asked, found: () => found }
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0)

test('a list reads few turns at a time, and so many at most', async () => {
  const tenant = tenantOf(10_000, () => false)
  expect(await tenant.list()).toEqual([])
  expect(Math.max(...tenant.asked)).toBeLessThanOrEqual(BOUNDS.turnsAtOnce)
  expect(sum(tenant.asked)).toBeGreaterThanOrEqual(BOUNDS.turnsMax)
  expect(sum(tenant.asked)).toBeLessThan(BOUNDS.turnsMax + BOUNDS.turnsAtOnce)
})

test('reading ends where nothing newer can follow', async () => {
  const tenant = tenantOf(10_000, () => true)
  const listed = await tenant.list()
  expect(listed.map(({ created_at }) => created_at)).toEqual(
    Array.from({ length: 20 }, (_, session) => at(session)),
  )
  expect(tenant.found()).toBeLessThanOrEqual(30)
})

test('every active session of a smaller tenant is read', async () => {
  const tenant = tenantOf(60, (session) => session === 59)
  expect((await tenant.list()).map(({ session_id }) => session_id)).toEqual(['s-00059'])
  expect(sum(tenant.asked)).toBe(600)
})
