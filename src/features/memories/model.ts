import { z } from 'zod'
import { issue } from '../../core/errors.ts'
import { nullableText, requiredText } from '../../core/fields.ts'
import { FACT_CHARS_MAX, REFERENCE_CHARS_MAX } from '../../core/limits/contract.ts'
import { subjectField } from '../../core/subject.ts'

const LINE_BREAK = /[\n\r\u0085\u2028\u2029]/

export const isOneLine = (text: string): boolean => !LINE_BREAK.test(text)

const text = requiredText('text', FACT_CHARS_MAX).refine(isOneLine, {
  error: issue('field_invalid', { field: 'text' }),
})

const pinned = z
  .boolean({ error: issue('field_type', { field: 'pinned', kind: 'boolean' }) })
  .optional()

/** Body of POST; in the console a missing subject is the person's own. */
export const MemoryRequest = z.lazy(() =>
  z.object({
    subject: subjectField,
    text,
    /** Absent: off for a new fact, unchanged for one that is there. */
    pinned,
    /** Absent: the app of the key, else all apps that share their facts. */
    app_id: nullableText('app_id', REFERENCE_CHARS_MAX),
  }),
)
export type MemoryRequest = z.infer<typeof MemoryRequest>

/** Body of PUT; replaces both. */
export const MemoryChange = z.lazy(() => z.object({ text, pinned }))
export type MemoryChange = z.infer<typeof MemoryChange>

/** A fact about somebody whom assistants talk with. */
export const Memory = z.lazy(() =>
  z.object({
    id: z.string(),
    subject: z.string(),
    app_id: z.string().nullable(),
    text: z.string(),
    pinned: z.boolean(),
    source: z.enum(['tool', 'person', 'api']),
    session_id: z.string().nullable(),
    created_at: z.string(),
    updated_at: z.string(),
    /** When it was last shown to the model, or recalled; at most an hour old. */
    used_at: z.string().nullable(),
  }),
)
export type Memory = z.infer<typeof Memory>

export const MemoryListResponse = z.lazy(() =>
  z.object({
    memories: z.array(Memory),
    next_before: z.string().nullable(),
  }),
)
export const MemoryDeleted = z.lazy(() => z.object({ id: z.string(), deleted: z.literal(true) }))
export const MemoriesDeleted = z.lazy(() => z.object({ deleted: z.int() }))

/** Persons are counted together, as `user:*`. */
export const SubjectsResponse = z.lazy(() =>
  z.object({
    subjects: z.array(z.object({ subject: z.string(), count: z.int(), last_at: z.string() })),
  }),
)

export const SuggestRequest = z.lazy(() =>
  z.object({
    session_id: requiredText('session_id', Number.MAX_SAFE_INTEGER),
  }),
)
export const SuggestResponse = z.lazy(() => z.object({ suggestions: z.array(z.string()) }))
