import { z } from 'zod'
import { issue } from '../../core/errors.ts'
import {
  assistantFields,
  narrowing,
  nullableText,
  optionalFlag,
  optionalText,
  requiredText,
} from '../../core/fields.ts'
import {
  AGENT_TEXT_CHARS_MAX,
  ANSWER_WORDS_MAX,
  ANSWER_WORDS_MIN,
  IMAGES_MAX,
  MODEL_CHARS_MAX,
  PERSONA_PROMPT_CHARS_MAX,
  TEMPORARY_TURNS_MAX,
  TURN_FILES_MAX,
} from '../../core/limits/contract.ts'
import { subjectField } from '../../core/subject.ts'
import { checkImage } from '../../upstream/egress/images.ts'
import { variables } from './variables.ts'

/** Ids of files, each once. */
const fileIds = z
  .array(z.string({ error: issue('field_type', { field: 'files', kind: 'string_array' }) }), {
    error: issue('field_type', { field: 'files', kind: 'string_array' }),
  })
  .max(TURN_FILES_MAX, { error: issue('too_many_items', { field: 'files', max: TURN_FILES_MAX }) })
  .transform((ids) => [...new Set(ids)])
  .default([])

/** Body of POST /v1/agent. */
export const AgentRequest = z.object({
  text: requiredText('text', AGENT_TEXT_CHARS_MAX),
  /** `sessionId` (core/fields.ts) checks its length. */
  session_id: optionalText('session_id'),
  persona: optionalText('persona', PERSONA_PROMPT_CHARS_MAX),
  persona_id: optionalText('persona_id'),
  images: z
    .array(
      z.string({ error: issue('image_type') }).superRefine((image, context) => {
        const problem = checkImage(image)
        if (problem) context.addIssue({ code: 'custom', message: problem })
      }),
      { error: issue('field_type', { field: 'images', kind: 'string_array' }) },
    )
    .max(IMAGES_MAX, { error: issue('too_many_images', { max: IMAGES_MAX }) })
    .default([]),
  files: fileIds,
  variables,
  kb: optionalFlag('kb', true),
  replace_last: optionalFlag('replace_last', false),
  /** Whether somebody is there who answers what the turn asks. */
  interactive: optionalFlag('interactive', false),
  collections: narrowing,
  /** Whom the caller speaks for: what is remembered of them is shown to the model. */
  subject: subjectField,
})
export type AgentRequest = z.infer<typeof AgentRequest>

/** Whether the tenant's channel answers. */
export const AgentCheckResponse = z.object({
  ok: z.boolean(),
  /** The channel that answered; of a turn that failed, the one that was asked. */
  channel: z.enum(['byo', 'platform', 'platform_fallback']),
  model: z.string().nullable(),
  /** Milliseconds to the first word; null when none came. */
  first_ms: z.int().nullable(),
  /** Null when `ok`; else `offline_responder`, the reason of a takeover, or an error code. */
  reason: z.string().nullable(),
})
export type AgentCheckResponse = z.infer<typeof AgentCheckResponse>

/** The earlier turns of a talk that is stored nowhere, oldest first. */
const earlier = z
  .array(
    z.object(
      { text: requiredText('text', AGENT_TEXT_CHARS_MAX), reply: z.string() },
      { error: issue('field_type', { field: 'temporary', kind: 'object' }) },
    ),
    { error: issue('field_type', { field: 'temporary', kind: 'array' }) },
  )
  .max(TEMPORARY_TURNS_MAX, {
    error: issue('too_many_items', { field: 'temporary', max: TEMPORARY_TURNS_MAX }),
  })
  .nullable()
  .default(null)

/** A UUID. */
const TURN_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const WORDS = issue('field_type', { field: 'answer_words', kind: 'int' })

/** About how long the answer is to be; a number outside the bounds counts as the nearest one. */
const answerWords = z
  .int({ error: WORDS })
  .transform((count) => Math.min(Math.max(count, ANSWER_WORDS_MIN), ANSWER_WORDS_MAX))
  .nullable()
  .default(null)

/** Body of POST /console/agent: the turn runs as a key of the app would. */
export const StudioRequest = AgentRequest.extend({
  app_id: z
    .string({ error: issue('field_type', { field: 'app_id', kind: 'string_or_null' }) })
    .nullable()
    .default(null),
  /** Whether the stream has events of type `thinking_delta`. */
  show_thinking: optionalFlag('show_thinking', false),
  /** Whether the turn goes on when its reader leaves. */
  detached: optionalFlag('detached', false),
  /**
   * The caller's own name for a detached turn, in the form of the server's: a name is taken once,
   * and who sends it again reads the turn that has it.
   */
  turn_id: z
    .string({ error: issue('field_type', { field: 'turn_id', kind: 'string_or_null' }) })
    .regex(TURN_ID, { error: issue('field_invalid', { field: 'turn_id' }) })
    .nullable()
    .default(null),
  /**
   * Not null: the turn belongs to no session, is stored nowhere, remembers nothing, and its caller
   * brings what was said before. It ends when its reader leaves: `session_id`, `detached`,
   * `turn_id` and `replace_last` speak of what is stored, and are not looked at.
   */
  temporary: earlier,
  /** The model of this turn alone; null: as the assistant is set. */
  model: nullableText('model', MODEL_CHARS_MAX),
  answer_words: answerWords,
  /** An app's form that is not saved; the turn runs as if it were. */
  draft: z
    .object(assistantFields, {
      error: issue('field_type', { field: 'draft', kind: 'object' }),
    })
    .nullable()
    .default(null),
})
export type StudioRequest = z.infer<typeof StudioRequest>
export type AppDraft = z.infer<typeof StudioRequest>['draft']
