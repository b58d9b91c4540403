import type { Clock } from '../../core/clock.ts'
import { newId } from '../../core/crypto.ts'
import { appError } from '../../core/errors.ts'
import { MEMORIES_MAX, SUBJECT_MEMORIES_MAX } from '../../core/limits/contract.ts'
import type { Principal } from '../../core/principal.ts'
import { createQuestion } from '../../core/question.ts'
import { createMemoryAccess, isOwn, isPersons, missing } from './access.ts'
import { byLikeness, type MemoryLikeness } from './likeness.ts'
import type { Memory, MemoryChange, MemoryRequest } from './model.ts'
import type { MemoryStore, Place } from './store.ts'

export interface MemoriesParts {
  readonly store: MemoryStore
  readonly likeness: MemoryLikeness
  /** Throws `not_found` for an app that is not the tenant's. */
  readonly checkApp: (tenantId: string, appId: string) => Promise<unknown>
  readonly clock: Pick<Clock, 'iso'>
}

export interface MemoryQuery {
  readonly subject: string | null
  readonly appId: string | null
  /** Orders by likeness; empty: the newest first. */
  readonly q: string
  readonly before: string | null
  readonly limit: number
}

const quotaOf = { place: SUBJECT_MEMORIES_MAX, tenant: MEMORIES_MAX }

/** What is remembered, for those who may read and change it. */
export function createMemories({ store, likeness, checkApp, clock }: MemoriesParts) {
  const { subjectOf, appOf, read } = createMemoryAccess({ store, checkApp })

  const placeOf = ({ tenantId }: Principal, { subject, app_id }: Memory): Place => ({
    tenantId,
    subject,
    scope: app_id ?? '',
  })

  /** The tenant's facts, or those of this place, are as many as may be. */
  async function full(tenantId: string) {
    const isTenantFull = (await store.count(tenantId)) >= MEMORIES_MAX
    return appError('quota_memories', { max: isTenantFull ? MEMORIES_MAX : SUBJECT_MEMORIES_MAX })
  }

  return {
    async list(principal: Principal, query: MemoryQuery) {
      const { tenantId } = principal
      const { q, before, limit } = query
      const subject = await subjectOf(principal, query.subject)
      const appId = await appOf(principal, query.appId)
      if (q !== '') {
        const found = (await store.vectored(tenantId, subject, appId)).map((row) => ({
          ...row,
          id: row.memory.id,
          text: row.memory.text,
        }))
        const scores = await likeness.to(
          tenantId,
          createQuestion(tenantId, q),
          found,
          async () => found,
        )
        const memories = byLikeness(found, scores).map(({ memory }) => memory)
        return { memories: memories.slice(0, limit), next_before: null }
      }
      const rows = await store.list(tenantId, { subject, appId, before, limit: limit + 1 })
      const memories = rows.slice(0, limit)
      const next_before = rows.length > limit ? (memories.at(-1)?.id ?? null) : null
      return { memories, next_before }
    },

    /** Subjects with the number of their facts; persons together. */
    async subjects({ tenantId, kind, role }: Principal, appId: string | null) {
      if (kind === 'session' && role !== 'owner') throw appError('forbidden_role')
      return { subjects: await store.subjects(tenantId, appId) }
    },

    /** The same text is one fact: `isNew` is false for one that was there. */
    async create(principal: Principal, request: MemoryRequest) {
      const { tenantId, userId } = principal
      const { text, pinned } = request
      const subject = await subjectOf(principal, request.subject ?? null)
      const scope = (await appOf(principal, request.app_id)) ?? ''
      const place = { tenantId, subject, scope }
      const at = clock.iso()
      const known = await store.same(place, text)
      if (known !== null) {
        await store.run([store.touch(place, known, at, pinned ?? null)])
        const memory = await store.find(tenantId, known)
        if (memory) return { memory, isNew: false }
      }
      const source = userId === null ? ('api' as const) : ('person' as const)
      const fact = { id: newId(), text, pinned: pinned ?? false, source, session_id: null, at }
      const like = await likeness.of(tenantId, text)
      await store.run([store.insert(place, fact, like, quotaOf)])
      // Another request may have told the same meanwhile.
      const stored = await store.same(place, text)
      const memory = stored === null ? null : await store.find(tenantId, stored)
      if (!memory) throw await full(tenantId)
      return { memory, isNew: memory.id === fact.id }
    },

    async replace(principal: Principal, id: string, { text, pinned = false }: MemoryChange) {
      const memory = await read(principal, id)
      const { tenantId } = principal
      const like = await likeness.of(tenantId, text)
      const fact = { id, text, pinned, at: clock.iso() }
      await store.run(store.replace(placeOf(principal, memory), fact, like))
      return read(principal, id)
    },

    /** Resolves with the subject, and whether it is the caller's own. */
    async remove(principal: Principal, id: string) {
      const memory = await read(principal, id)
      const [removed] = await store.run([store.remove(placeOf(principal, memory), id)])
      if (removed?.changes !== 1) throw missing()
      return { subject: memory.subject, isOwn: isOwn(principal, memory.subject) }
    },

    /** Removes all facts of a subject; an owner removes those of any person, unread. */
    async removeAll(principal: Principal, given: string | null) {
      const { tenantId, role } = principal
      const subject = given?.trim() ?? ''
      if (subject === '') throw appError('field_missing', { field: 'subject' })
      const isUnread = role === 'owner' && isPersons(subject)
      if (!isUnread) await subjectOf(principal, subject)
      const appId = await appOf(principal, null)
      const deleted = await store.removeSubject(tenantId, subject, appId)
      return { deleted, subject, isOwn: isOwn(principal, subject) }
    },
  }
}

export type Memories = ReturnType<typeof createMemories>
