import { expect } from 'bun:test'
import { z } from 'zod'
import type { TestApp } from './app.ts'
import { chatTenant } from './completions.ts'

// What a client of Open Responses (the OpenAPI document of 2026-04-24) accepts: the types of events
// and items are closed unions, and every field below has to be there. Further fields pass.

const int = z.int()
const id = z.string()
const nullable = <Schema extends z.ZodType>(schema: Schema) => z.union([schema, z.null()])

const Annotation = z.object({
  type: z.literal('url_citation'),
  url: z.string(),
  start_index: int,
  end_index: int,
  title: z.string(),
})
const OutputText = z.object({
  type: z.literal('output_text'),
  text: z.string(),
  annotations: z.array(Annotation),
})
const Status = z.enum(['in_progress', 'completed', 'incomplete'])
const Item = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('message'),
    id,
    status: Status,
    role: z.literal('assistant'),
    content: z.array(OutputText),
  }),
  z.object({
    type: z.literal('function_call'),
    id,
    call_id: id,
    name: z.string(),
    namespace: z.string().optional(),
    arguments: z.string(),
    status: Status,
  }),
  z.object({
    type: z.literal('custom_tool_call'),
    id,
    call_id: id,
    name: z.string(),
    namespace: z.string().optional(),
    input: z.string(),
    status: Status,
  }),
  z.object({
    type: z.literal('tool_search_call'),
    id,
    call_id: id,
    execution: z.literal('client'),
    arguments: z.record(z.string(), z.unknown()),
    status: Status,
  }),
  z.object({
    type: z.literal('file_search_call'),
    id,
    status: z.enum(['in_progress', 'searching', 'completed', 'incomplete', 'failed']),
    queries: z.array(z.string()),
    results: z.null(),
  }),
])
const Tool = z.discriminatedUnion('type', [
  z.looseObject({ type: z.enum(['custom', 'namespace', 'tool_search']) }),
  z.object({
    type: z.literal('function'),
    name: z.string(),
    description: nullable(z.string()),
    parameters: nullable(z.record(z.string(), z.unknown())),
    strict: nullable(z.boolean()),
  }),
  z.object({
    type: z.literal('file_search'),
    vector_store_ids: z.array(z.string()),
    max_num_results: int,
    ranking_options: z.object({ ranker: z.string(), score_threshold: z.number() }),
    filters: z.null(),
  }),
])
const Format = z.discriminatedUnion('type', [
  z.object({ type: z.enum(['text', 'json_object']) }),
  z.object({
    type: z.literal('json_schema'),
    name: z.string(),
    description: nullable(z.string()),
    schema: z.unknown(),
    strict: z.boolean(),
  }),
])

const ResponseResource = z.object({
  id,
  object: z.literal('response'),
  created_at: int,
  completed_at: nullable(int),
  status: z.enum(['in_progress', 'completed', 'incomplete', 'failed']),
  incomplete_details: nullable(z.object({ reason: z.string() })),
  model: z.string(),
  previous_response_id: z.null(),
  instructions: nullable(z.string()),
  output: z.array(Item),
  error: nullable(z.object({ code: z.string(), message: z.string() })),
  tools: z.array(Tool),
  tool_choice: z.union([z.enum(['none', 'auto', 'required']), z.looseObject({ type: z.string() })]),
  truncation: z.enum(['auto', 'disabled']),
  parallel_tool_calls: z.boolean(),
  text: z.object({ format: Format }),
  top_p: z.number(),
  presence_penalty: z.number(),
  frequency_penalty: z.number(),
  top_logprobs: int,
  temperature: z.number(),
  reasoning: nullable(z.object({ effort: nullable(z.string()), summary: z.null() })),
  usage: nullable(
    z.object({
      input_tokens: int,
      output_tokens: int,
      total_tokens: int,
      input_tokens_details: z.object({ cached_tokens: int }),
      output_tokens_details: z.object({ reasoning_tokens: int }),
    }),
  ),
  max_output_tokens: nullable(int),
  max_tool_calls: nullable(int),
  store: z.boolean(),
  background: z.literal(false),
  service_tier: z.string(),
  metadata: z.record(z.string(), z.string()),
  user: nullable(z.string()),
  safety_identifier: nullable(z.string()),
  prompt_cache_key: nullable(z.string()),
  conversation: z.object({ id }).optional(),
  moonbase: z.record(z.string(), z.unknown()).optional(),
})

const inItem = { item_id: id, output_index: int }
const inPart = { ...inItem, content_index: int }
const Event = z.discriminatedUnion('type', [
  z.object({
    type: z.enum([
      'response.created',
      'response.in_progress',
      'response.completed',
      'response.incomplete',
      'response.failed',
    ]),
    response: ResponseResource,
  }),
  z.object({
    type: z.enum(['response.output_item.added', 'response.output_item.done']),
    output_index: int,
    item: Item,
  }),
  z.object({
    type: z.enum(['response.content_part.added', 'response.content_part.done']),
    ...inPart,
    part: OutputText,
  }),
  z.object({ type: z.literal('response.output_text.delta'), ...inPart, delta: z.string() }),
  z.object({ type: z.literal('response.output_text.done'), ...inPart, text: z.string() }),
  z.object({
    type: z.literal('response.output_text.annotation.added'),
    ...inPart,
    annotation_index: int,
    annotation: Annotation,
  }),
  z.object({
    type: z.literal('response.function_call_arguments.delta'),
    ...inItem,
    delta: z.string(),
  }),
  z.object({
    type: z.literal('response.function_call_arguments.done'),
    ...inItem,
    arguments: z.string(),
  }),
  z.object({
    type: z.literal('response.custom_tool_call_input.delta'),
    ...inItem,
    delta: z.string(),
  }),
  z.object({
    type: z.literal('response.custom_tool_call_input.done'),
    ...inItem,
    input: z.string(),
  }),
  z.object({
    type: z.literal('error'),
    error: z.object({
      type: z.string(),
      code: nullable(z.string()),
      message: z.string(),
      param: nullable(z.string()),
    }),
  }),
])

/** The order of events; each is a word without its `response.`. */
const TEXT =
  'output_item.added content_part.added (output_text.delta )+(output_text.annotation.added )*' +
  'output_text.done content_part.done output_item.done '
const CALL =
  'output_item.added (function_call_arguments.delta )+function_call_arguments.done ' +
  'output_item.done '
const CUSTOM =
  'output_item.added (custom_tool_call_input.delta )+custom_tool_call_input.done output_item.done '
const SEARCH = 'output_item.added output_item.done '
const END = '(completed|incomplete|error failed) '
const ORDER = new RegExp(`^created in_progress (${TEXT}|${CALL}|${CUSTOM}|${SEARCH})*${END}$`)

/** Reads a stream, and checks every event and their order as clients of the standard do. */
function readResponseStream(body: string) {
  expect(body).toEndWith('data: [DONE]\n\n')
  const blocks = body.slice(0, -'data: [DONE]\n\n'.length).split('\n\n').filter(Boolean)
  const events = blocks.flatMap((block) => {
    if (block.startsWith(':')) return []
    const [, name, data = ''] = /^event: (\S+)\ndata: (.*)$/.exec(block) ?? []
    const value = JSON.parse(data) as { type: string; sequence_number: number; moonbase?: object }
    expect(value.type).toBe(name ?? '')
    return [{ ...Event.parse(value), sequence: value.sequence_number, moonbase: value.moonbase }]
  })
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index))
  const order = events.map(({ type }) => `${type.replace('response.', '')} `).join('')
  expect(order).toMatch(ORDER)
  const last = events.at(-1)
  if (!last || !('response' in last)) throw new Error('no response at the end')
  const items = events.flatMap((event) => {
    const isDone = event.type === 'response.output_item.done'
    return isDone && 'item' in event ? [event.item] : []
  })
  expect(last.response.output).toEqual(items)
  return { events, order, response: last.response }
}

/** A new tenant that asks for responses. */
export async function responseTenant(app: TestApp) {
  const chat = await chatTenant(app)
  const send = (body: object, more: Readonly<Record<string, string>> = {}) =>
    fetch(`${app.url}/v1/responses`, {
      method: 'POST',
      headers: { ...chat.headers, 'content-type': 'application/json', ...more },
      body: JSON.stringify(body),
    })
  return {
    ...chat,
    send,
    /** A whole response that the standard's clients accept. */
    async whole(body: object, more = {}) {
      const response = await send(body, more)
      expect(response.status).toBe(200)
      return { headers: response.headers, ...ResponseResource.parse(await response.json()) }
    },
    async stream(body: object) {
      const response = await send({ ...body, stream: true })
      expect(response.headers.get('content-type')).toStartWith('text/event-stream')
      return readResponseStream(await response.text())
    },
    async refused(body: object) {
      const response = await send(body)
      const { error } = (await response.json()) as { error: object }
      return { status: response.status, ...error }
    },
  }
}

export const inputMessage = (role: string, content: unknown) => ({ type: 'message', role, content })

/** The texts of a response, with their annotations. */
export const textsOf = ({ output }: { output: z.infer<typeof ResponseResource>['output'] }) =>
  output.flatMap((item) => (item.type === 'message' ? item.content : []))
