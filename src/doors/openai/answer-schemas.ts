import { z } from 'zod'

/** Whole answers of chat completions and of responses, for /openapi.json. */

/** As the event kb_refs has them. */
const Ref = z.lazy(() =>
  z.object({
    doc_id: z.string(),
    title: z.string(),
    seq: z.int(),
    score: z.number(),
    page: z.int().nullable(),
    heading: z.string().nullable(),
    url: z.string().nullable(),
    collection_id: z.string().nullable(),
  }),
)

/** As the event file_refs has them. */
const FileRef = z.lazy(() =>
  z.object({
    file_id: z.string(),
    name: z.string(),
    seq: z.int(),
    page: z.int().nullable(),
    heading: z.string().nullable(),
    score: z.number().nullable(),
  }),
)

const Extension = z.lazy(() =>
  z
    .object({
      kb_refs: z.array(Ref).optional(),
      file_refs: z.array(FileRef).optional(),
      provider_fallback: z.object({ from: z.literal('byo'), reason: z.string() }).optional(),
      tool_results: z.array(z.object({ name: z.string(), ok: z.boolean() })).optional(),
      stats: z.object({
        iterations: z.int(),
        channel: z.enum(['byo', 'platform', 'platform_fallback']),
        kb: z.literal('skipped').optional(),
      }),
      usage_estimated: z.literal(true).optional(),
    })
    .describe('What Moonbase tells of a turn beyond what OpenAI does'),
)

const Citation = z.object({
  start_index: z.int(),
  end_index: z.int(),
  title: z.string(),
  url: z.string(),
})

/** Seconds since 1970. */
const time = z.int()

export const CompletionAnswer = z.lazy(() =>
  z.object({
    id: z.string(),
    object: z.literal('chat.completion'),
    created: time,
    model: z.string(),
    choices: z.array(
      z.object({
        index: z.literal(0),
        finish_reason: z.enum(['stop', 'length', 'content_filter', 'tool_calls']),
        logprobs: z.null(),
        message: z.object({
          role: z.literal('assistant'),
          content: z.string().nullable(),
          refusal: z.null(),
          annotations: z.array(
            z.object({ type: z.literal('url_citation'), url_citation: Citation }),
          ),
          reasoning_content: z.string().optional(),
          tool_calls: z
            .array(
              z.object({
                id: z.string(),
                type: z.literal('function'),
                function: z.object({ name: z.string(), arguments: z.string() }),
              }),
            )
            .optional(),
        }),
      }),
    ),
    usage: z.object({
      prompt_tokens: z.int(),
      completion_tokens: z.int(),
      total_tokens: z.int(),
    }),
    moonbase: Extension,
  }),
)

const status = z.enum(['in_progress', 'completed', 'incomplete'])

const OutputText = z.lazy(() =>
  z.object({
    type: z.literal('output_text'),
    text: z.string(),
    annotations: z.array(Citation.extend({ type: z.literal('url_citation') })),
    logprobs: z.array(z.never()),
  }),
)

const OutputItem = z.lazy(() =>
  z.discriminatedUnion('type', [
    z.object({
      type: z.literal('message'),
      id: z.string(),
      status,
      role: z.literal('assistant'),
      content: z.array(OutputText),
    }),
    z.object({
      type: z.literal('function_call'),
      id: z.string(),
      call_id: z.string(),
      name: z.string(),
      namespace: z.string().optional(),
      arguments: z.string(),
      status,
    }),
    z.object({
      type: z.literal('custom_tool_call'),
      id: z.string(),
      call_id: z.string(),
      name: z.string(),
      namespace: z.string().optional(),
      input: z.string(),
      status,
    }),
    z.object({
      type: z.literal('tool_search_call'),
      id: z.string(),
      call_id: z.string(),
      execution: z.literal('client'),
      arguments: z.record(z.string(), z.unknown()),
      status,
    }),
    z.object({
      type: z.literal('file_search_call'),
      id: z.string(),
      status,
      queries: z.array(z.string()),
      results: z.null(),
    }),
  ]),
)

/** Most fields repeat the request; the others are its result. */
export const ResponseAnswer = z.lazy(() =>
  z.looseObject({
    id: z.string(),
    object: z.literal('response'),
    created_at: time,
    completed_at: time.nullable(),
    status: z.enum(['in_progress', 'completed', 'incomplete', 'failed']),
    incomplete_details: z
      .object({ reason: z.enum(['max_output_tokens', 'content_filter']) })
      .nullable(),
    model: z.string(),
    instructions: z.string().nullable(),
    output: z.array(OutputItem),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    usage: z
      .object({
        input_tokens: z.int(),
        input_tokens_details: z.object({ cached_tokens: z.int() }),
        output_tokens: z.int(),
        output_tokens_details: z.object({ reasoning_tokens: z.int() }),
        total_tokens: z.int(),
      })
      .nullable(),
    store: z.boolean(),
    conversation: z.object({ id: z.string() }).optional(),
    moonbase: Extension.optional(),
  }),
)
