import { AppError, type ErrorCode } from '../../core/errors.ts'
import type { AgentEvent, KbRef, TurnStats } from '../../features/agent/events.ts'
import type { ModelAnswer } from '../../features/agent/model-loop.ts'
import type { ToolCall } from '../../upstream/ports/llm.ts'
import { citationOf, endOf, extensionOf, reasoningOf, refsOf, toldOf } from '../shared/extension.ts'

/** The fields that all frames of one answer share. */
export interface CompletionHead {
  readonly id: string
  /** Seconds since 1970. */
  readonly created: number
  readonly model: string
  /** The address of the console, where sources are shown. */
  readonly site: string
}

const DONE = 'data: [DONE]\n\n'
const ERROR_START = 'data: {"error":'

/** The body of an error, as on all paths of OpenAI's API. */
export type ErrorBody = (error: AppError) => { readonly error: object }

interface Failure {
  readonly code: ErrorCode
  readonly message: string
}

/** The last frame of a failed stream. */
const errorFrame = ({ code, message }: Failure, errorBody: ErrorBody): string => {
  const { error } = errorBody(new AppError(code, {}))
  return `data: ${JSON.stringify({ error: { ...error, message } })}\n\n`
}

/** How frames, which are text already, are streamed (http/sse.ts). */
export const frameStream = (errorBody: ErrorBody) => ({
  frame: (text: string) => text,
  isLast: (text: string) => text === DONE || text.startsWith(ERROR_START),
  onStop: (reason: Failure) => errorFrame(reason, errorBody),
})

interface More {
  readonly finish?: string
  readonly moonbase?: object
}

/**
 * The frames of a streamed chat completion. Every `data:` is one chunk: clients parse each of them
 * as such, so there are no named events and no chunks without a choice.
 */
export function createFrames(head: CompletionHead, includeUsage: boolean, errorBody: ErrorBody) {
  const { id, created, model } = head
  const shared = JSON.stringify({ id, object: 'chat.completion.chunk', created, model })
  const start = `data: ${shared.slice(0, -1)},"choices":`
  const usage = includeUsage ? ',"usage":null' : ''
  const open = `${start}[{"index":0,"delta":`
  const close = `,"finish_reason":null}]${usage}`

  function chunk(delta: object, { finish, moonbase }: More = {}): string {
    const end = finish ? `,"finish_reason":"${finish}"}]${usage}` : close
    const extension = moonbase ? `,"moonbase":${JSON.stringify(moonbase)}` : ''
    return `${open}${JSON.stringify(delta)}${end}${extension}}\n\n`
  }

  let stats: TurnStats | null = null

  function frameOf(event: AgentEvent): string {
    switch (event.type) {
      // Nearly all events, so the JSON is written without an intermediate object.
      case 'llm_delta':
        return `${open}{"content":${JSON.stringify(event.text)}}${close}}\n\n`
      case 'thinking_delta':
        return chunk({ reasoning_content: event.text })
      case 'kb_refs': {
        const moonbase = { kb_refs: event.refs }
        return chunk({ annotations: annotationsOf(event.refs, head.site) }, { moonbase })
      }
      case 'error':
        return errorFrame(event, errorBody)
      case 'stats':
        stats = event
        return ''
      default: {
        const moonbase = toldOf(event)
        return moonbase ? chunk({}, { moonbase }) : ''
      }
    }
  }

  return {
    opening: chunk({ role: 'assistant', content: '' }),

    /** The frames of events as they happen. */
    of: (events: readonly AgentEvent[]): string[] => events.map(frameOf).filter(Boolean),

    whole: (answer: ModelAnswer, events: readonly AgentEvent[]) =>
      completionOf(head, answer, events),

    /** The last frames of a successful turn. */
    ending(answer: ModelAnswer): string[] {
      const calls = answer.clientCalls.map((call, index) =>
        chunk({ tool_calls: [{ index, ...wireCall(call) }] }),
      )
      const finish = chunk({}, { finish: finishOf(answer), moonbase: endOf(answer, stats) })
      const used = `${start}[],"usage":${JSON.stringify(usageOf(answer))}}\n\n`
      return [...calls, finish, ...(includeUsage ? [used] : []), DONE]
    },
  }
}

/** A whole chat completion. `events` are those of the turn. */
function completionOf(
  { id, created, model, site }: CompletionHead,
  answer: ModelAnswer,
  events: readonly AgentEvent[],
) {
  const { text, clientCalls } = answer
  const called = clientCalls.length > 0
  const reasoning = reasoningOf(events)
  const message = {
    role: 'assistant',
    content: called && text === '' ? null : text,
    refusal: null,
    annotations: annotationsOf(refsOf(events), site),
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(called ? { tool_calls: clientCalls.map(wireCall) } : {}),
  }
  return {
    id,
    object: 'chat.completion',
    created,
    model,
    choices: [{ index: 0, finish_reason: finishOf(answer), logprobs: null, message }],
    usage: usageOf(answer),
    moonbase: extensionOf(answer, events),
  }
}

const annotationsOf = (refs: readonly KbRef[], site: string) =>
  refs.map((ref) => ({ type: 'url_citation', url_citation: citationOf(ref, site) }))

const wireCall = ({ id, name, arguments: args }: ToolCall) => ({
  id,
  type: 'function',
  function: { name, arguments: args },
})

const usageOf = ({ usage: { inputTokens, outputTokens } }: ModelAnswer) => ({
  prompt_tokens: inputTokens,
  completion_tokens: outputTokens,
  total_tokens: inputTokens + outputTokens,
})

/** Reports that an answer was cut even when it has calls: their arguments may be incomplete. */
function finishOf({ finish, clientCalls }: ModelAnswer): string {
  if (finish === 'length' || finish === 'content_filter') return finish
  return clientCalls.length > 0 ? 'tool_calls' : 'stop'
}
