import { z } from 'zod'
import { issue } from '../../core/errors.ts'
import { CONVERSATION_TITLE_CHARS_MAX, FOLDER_CHARS_MAX } from '../../core/limits/contract.ts'
import { charCount, inOneLine } from '../../core/text.ts'

const Message = z.lazy(() =>
  z.object({
    role: z.enum(['user', 'assistant']),
    content: z.string(),
  }),
)
export type Message = z.infer<typeof Message>

export const HistoryResponse = z.lazy(() =>
  z.object({
    messages: z.array(Message),
    summary: z.string(),
    count: z.int(),
  }),
)
export type HistoryResponse = z.infer<typeof HistoryResponse>

export const SessionRow = z.lazy(() =>
  z.object({
    id: z.string(),
    turn_count: z.int(),
    first_at: z.string(),
    last_at: z.string(),
    app_id: z.string().nullable(),
    device_id: z.string().nullable(),
  }),
)
export type SessionRow = z.infer<typeof SessionRow>

export const SessionListResponse = z.lazy(() => z.object({ sessions: z.array(SessionRow) }))
export const SessionDeleteResponse = z.lazy(() =>
  z.object({ id: z.string(), deleted: z.literal(true) }),
)

const ToolDetails = z.lazy(() =>
  z.object({
    name: z.string(),
    ok: z.boolean(),
    ms: z.int(),
    /** It was not called: nobody could be asked. */
    needs_approval: z.literal(true).optional(),
    /** It was not called: the person said no, or nothing in time. */
    declined: z.literal(true).optional(),
    /** The arguments and the result of the tool, shortened; on the console only. */
    arguments: z.string().optional(),
    result: z.string().optional(),
  }),
)

/** How a turn was answered. */
export const TurnDetails = z.lazy(() =>
  z.object({
    kb_refs: z.array(
      z.object({
        doc_id: z.string(),
        title: z.string(),
        seq: z.int(),
        score: z.number(),
        page: z.int().nullable(),
        heading: z.string().nullable(),
        url: z.string().nullable(),
        /** Absent in older turns. */
        collection_id: z.string().nullable().optional(),
      }),
    ),
    /** Files that the question named; absent when there were none, and in older turns. */
    files: z.array(z.object({ file_id: z.string(), name: z.string() })).optional(),
    /** Passages of attached files that were shown to the model; absent when there were none. */
    file_refs: z
      .array(
        z.object({
          file_id: z.string(),
          name: z.string(),
          seq: z.int(),
          page: z.int().nullable(),
          heading: z.string().nullable(),
          score: z.number().nullable(),
        }),
      )
      .optional(),
    /** Facts that the turn has remembered and forgotten; absent when there were none. */
    memory: z
      .array(z.object({ action: z.enum(['remembered', 'forgotten']), id: z.string() }))
      .optional(),
    /** Pictures of the question that are kept with the talk; on the console only. */
    images: z.array(z.object({ file_id: z.string(), width: z.int(), height: z.int() })).optional(),
    tools: z.array(ToolDetails),
    /** What the person was asked; absent when nothing was. */
    asks: z
      .array(
        z.object({
          tool: z.string(),
          action: z.enum(['accept', 'decline', 'cancel']),
          ms: z.int(),
        }),
      )
      .optional(),
    channel: z.enum(['byo', 'platform', 'platform_fallback']),
    /** Null when no model was named, or none answered. */
    model: z.string().nullable(),
    iterations: z.int(),
    input_tokens: z.int(),
    output_tokens: z.int(),
    /** Milliseconds from the start of the turn to the first word, and to the end of the answer. */
    first_ms: z.int().nullable(),
    total_ms: z.int(),
    /** Why the tenant's own channel failed, when the platform's took over. */
    fallback_reason: z.string().nullable(),
    /** As in the event `stats`; on the console only. */
    kb: z
      .union([
        z.object({
          searched: z.literal(true),
          best: z.number(),
          relevance: z.number(),
          shown: z.int(),
        }),
        z.literal('skipped'),
      ])
      .optional(),
    /** The model's reasoning, shortened; on the console only. */
    thinking: z.string().optional(),
    /** The person stopped the answer; the reply is what was written until then. */
    stopped: z.literal(true).optional(),
    /** About how many words were asked for; on the console only. */
    answer_words: z.int().optional(),
    /** The built-in responder answered, because no model is connected; on the console only. */
    builtin: z.literal(true).optional(),
  }),
)
export type TurnDetails = z.infer<typeof TurnDetails>

/** A turn that was shown passages of a document. */
const KbCitation = z.lazy(() =>
  z.object({
    session_id: z.string(),
    seq: z.int(),
    /** The beginning of what was asked. */
    question: z.string(),
    created_at: z.string(),
    /** Numbers of the passages, from 0. */
    passages: z.array(z.int()),
  }),
)
export type KbCitation = z.infer<typeof KbCitation>
export const KbCitationsResponse = z.lazy(() => z.object({ citations: z.array(KbCitation) }))

export const TranscriptTurn = z.lazy(() =>
  z.object({
    seq: z.int(),
    user_text: z.string(),
    reply: z.string(),
    created_at: z.string(),
    /** Null where it is unknown how the turn was answered. */
    details: TurnDetails.nullable(),
    /** The reader's own thumb; absent without one, and for keys. */
    rating: z.int().optional(),
  }),
)
export type TranscriptTurn = z.infer<typeof TranscriptTurn>

export const TranscriptResponse = z.lazy(() =>
  z.object({
    turns: z.array(TranscriptTurn),
    next_before: z.int().nullable(),
  }),
)
export type TranscriptResponse = z.infer<typeof TranscriptResponse>

export const Conversation = z.lazy(() =>
  z.object({
    id: z.string(),
    title: z.string(),
    turn_count: z.int(),
    last_at: z.string(),
    app_id: z.string().nullable(),
    device_id: z.string().nullable(),
    /** A name under which people keep it. */
    folder: z.string().nullable(),
    pinned: z.boolean(),
    archived: z.boolean(),
    /** Only with a query: the turn that holds its words; null when only the title holds them. */
    match: z.object({ seq: z.int(), excerpt: z.string() }).nullable().optional(),
  }),
)
export type Conversation = z.infer<typeof Conversation>

export const ConversationListResponse = z.lazy(() =>
  z.object({
    conversations: z.array(Conversation),
    next_before: z.string().nullable(),
  }),
)
export type ConversationListResponse = z.infer<typeof ConversationListResponse>

const flag = (field: string) =>
  z.boolean({ error: issue('field_type', { field, kind: 'boolean' }) }).optional()

/**
 * A branch has the turns up to `seq`; 0: none. With `for_question` it has no files that only later
 * turns have named, and stands for its conversation once something is said in it; else at once.
 */
export const BranchRequest = z.lazy(() =>
  z.object({
    for_question: flag('for_question'),
    seq: z
      .int({ error: issue('field_required', { field: 'seq', kind: 'int' }) })
      .min(0, { error: issue('field_too_small', { field: 'seq', min: 0 }) }),
  }),
)
export type BranchRequest = z.infer<typeof BranchRequest>
export const BranchResponse = z.lazy(() => z.object({ session_id: z.string() }))

export const VersionsResponse = z.lazy(() =>
  z.object({
    versions: z.array(
      z.object({
        session_id: z.string(),
        /** The turn after which it begins to differ; null for one that is no branch. */
        from_seq: z.int().nullable(),
        last_at: z.string(),
        /** The last turn that it shares with the one that was asked for; null for that one. */
        shared_seq: z.int().nullable(),
        /** When its turn after that was stored; null when it has none. */
        next_at: z.string().nullable(),
      }),
    ),
  }),
)

const TITLE = { field: 'title', max: CONVERSATION_TITLE_CHARS_MAX }

const FOLDER = { field: 'folder', max: FOLDER_CHARS_MAX }

/**
 * What is omitted stays. A blank title restores the automatic one, which is made from the first
 * text; a blank folder is none.
 */
export const ConversationRequest = z.lazy(() =>
  z.object({
    title: z
      .string({ error: issue('field_type', { field: 'title', kind: 'string' }) })
      .transform(inOneLine)
      .refine((title) => charCount(title) <= TITLE.max, { error: issue('field_too_long', TITLE) })
      .optional(),
    folder: z
      .string({ error: issue('field_type', { field: 'folder', kind: 'string_or_null' }) })
      .transform(inOneLine)
      .refine((name) => charCount(name) <= FOLDER.max, { error: issue('field_too_long', FOLDER) })
      .transform((name) => name || null)
      .nullable()
      .optional(),
    pinned: flag('pinned'),
    archived: flag('archived'),
  }),
)
export type ConversationRequest = z.infer<typeof ConversationRequest>
