import { newId } from '../../core/crypto.ts'
import { AppError, type ErrorCode } from '../../core/errors.ts'
import { TextInPieces } from '../../core/text.ts'
import type { AgentEvent, KbRef } from '../../features/agent/events.ts'
import type { ModelAnswer } from '../../features/agent/model-loop.ts'
import type { ToolCall } from '../../upstream/ports/llm.ts'
import { citationOf, extensionOf } from '../shared/extension.ts'
import {
  type OutputItem,
  type OutputText,
  type ResponseEnd,
  type ResponseHead,
  reasonOf,
  responseOf,
} from './response-object.ts'
import type { ResponseRequest } from './response-request.ts'
import { type ClientTool, inputOf, objectOf } from './response-tools.ts'

export const RESPONSE_DONE = 'data: [DONE]\n\n'

/** The name of the tool that searches the knowledge base. */
const SEARCH_TOOL = 'search_knowledge_base'

export interface ResponseWriterOptions {
  readonly request: ResponseRequest
  readonly clientTools: readonly ClientTool[]
  readonly head: ResponseHead
  /** The query of the automatic search. */
  readonly query: string
  /** Seconds since 1970. */
  readonly now: () => number
  readonly errorBody: (error: AppError) => { readonly error: ErrorFields }
}

interface ErrorFields {
  readonly type: string
  readonly code: string | null
  readonly message: string
  readonly param: string | null
}

interface NamedCall {
  readonly call_id: string
  readonly name: string
  readonly namespace?: string
}

/** The message that is being written. */
interface OpenMessage {
  readonly id: string
  readonly text: TextInPieces
}

/** The events of one stream, numbered, as text. */
class EventText {
  #sequence = 0
  #text = ''
  /** Extra fields of the next event: the types of events are fixed, their fields are not. */
  #aside: Record<string, unknown> | null = null

  constructor(private readonly isStreamed: boolean) {}

  send(type: string, fields: object): void {
    if (!this.isStreamed) return
    const more = this.#aside ? { moonbase: this.#aside } : {}
    this.#aside = null
    const data = { type, sequence_number: this.#sequence++, ...fields, ...more }
    this.#text += `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`
  }

  /** Adds the result of a server tool or a takeover to the next event. */
  addAside({ type, ...data }: Extract<AgentEvent, { type: 'tool_result' | 'provider_fallback' }>) {
    const results = (this.#aside?.tool_results ?? []) as readonly object[]
    const more = type === 'tool_result' ? { tool_results: [...results, data] } : { [type]: data }
    this.#aside = { ...this.#aside, ...more }
  }

  /** The text since the last call. */
  take(): string {
    const text = this.#text
    this.#text = ''
    return text
  }
}

/**
 * Writes a response as the events of a turn come: its items, and the text of the streamed events.
 * An item is closed before the next one is opened.
 */
export class ResponseWriter {
  readonly #told: AgentEvent[] = []
  readonly #events: EventText
  #output: OutputItem[] = []
  #open: OpenMessage | null = null
  #citations: readonly object[] = []

  constructor(private readonly options: ResponseWriterOptions) {
    this.#events = new EventText(options.request.stream)
  }

  /** The events that open a stream. */
  opening(): string {
    const response = this.#response({ status: 'in_progress' })
    this.#events.send('response.created', { response })
    this.#events.send('response.in_progress', { response })
    return this.#events.take()
  }

  /** The text of the stream for events of a turn; may be empty. */
  of(events: readonly AgentEvent[]): string {
    for (const event of events) {
      if (event.type === 'error') return this.failed(event)
      if (event.type === 'llm_delta') this.#write(event.text)
      else this.#read(event)
    }
    return this.#events.take()
  }

  /** The response of a successful turn; closes the open item. */
  finished(answer: ModelAnswer) {
    const isCut = reasonOf(answer) !== null
    this.#closeMessage(isCut ? 'incomplete' : 'completed')
    for (const call of answer.clientCalls) this.#addCall(call)
    return this.#response({
      status: isCut ? 'incomplete' : 'completed',
      answer,
      completedAt: this.options.now(),
      moonbase: extensionOf(answer, this.#told),
    })
  }

  /** The text that ends the stream of a successful turn. */
  ending(answer: ModelAnswer): string {
    const response = this.finished(answer)
    this.#events.send(`response.${response.status}`, { response })
    return this.#events.take() + RESPONSE_DONE
  }

  /** The items so far that are complete. */
  get items(): readonly OutputItem[] {
    return this.#output
  }

  /** The text that ends the stream of a failed turn. */
  failed({ code, message }: { readonly code: ErrorCode; readonly message: string }): string {
    this.#closeMessage('incomplete')
    const { error } = this.options.errorBody(new AppError(code, {}))
    const told = { ...error, message }
    // OpenAI's clients read the fields of the event; the standard has them in an object.
    this.#events.send('error', { ...told, type: 'error', error: told })
    const failure = { code: error.code ?? error.type, message }
    const response = this.#response({ status: 'failed', error: failure })
    this.#events.send('response.failed', { response })
    return this.#events.take() + RESPONSE_DONE
  }

  #response(end: Omit<ResponseEnd, 'output'>) {
    const { request, head } = this.options
    return responseOf(request, head, { ...end, output: this.#output })
  }

  #read(event: AgentEvent): void {
    this.#told.push(event)
    if (event.type === 'kb_refs') {
      const { site } = this.options.head
      const annotationOf = (ref: KbRef) => ({ type: 'url_citation', ...citationOf(ref, site) })
      this.#citations = event.refs.map(annotationOf)
      this.#addSearch(this.options.query)
    } else if (event.type === 'tool_call' && event.name === SEARCH_TOOL) {
      this.#addSearch(queryOf(event.arguments))
    } else if (event.type === 'tool_result') {
      this.#events.addAside(event)
    } else if (event.type === 'provider_fallback') {
      // The new channel starts over, also after text: that text is not part of the answer.
      this.#open = null
      this.#output = this.#output.filter(({ type }) => type !== 'message')
      this.#events.addAside(event)
    }
  }

  #write(delta: string): void {
    if (!this.#open) {
      this.#open = { id: `msg_${newId()}`, text: new TextInPieces() }
      this.#added(messageOf(this.#open.id, 'in_progress', []))
      const part = partOf('', [])
      this.#events.send('response.content_part.added', { ...this.#place(this.#open), part })
    }
    this.#open.text.add(delta)
    const fields = { ...this.#place(this.#open), delta, logprobs: [] }
    this.#events.send('response.output_text.delta', fields)
  }

  #closeMessage(status: 'completed' | 'incomplete' = 'completed'): void {
    if (!this.#open) return
    const place = this.#place(this.#open)
    const text = this.#open.text.toString()
    for (const [index, annotation] of this.#citations.entries()) {
      const fields = { ...place, annotation_index: index, annotation }
      this.#events.send('response.output_text.annotation.added', fields)
    }
    const part = partOf(text, this.#citations)
    this.#events.send('response.output_text.done', { ...place, text, logprobs: [] })
    this.#events.send('response.content_part.done', { ...place, part })
    this.#done(messageOf(this.#open.id, status, [part]))
    this.#open = null
    this.#citations = []
  }

  #place({ id }: OpenMessage) {
    return { item_id: id, output_index: this.#output.length, content_index: 0 }
  }

  #addSearch(query: string): void {
    this.#closeMessage()
    const item = { type: 'file_search_call', id: `fs_${newId()}`, results: null } as const
    const queries = query === '' ? [] : [query]
    this.#added({ ...item, status: 'in_progress', queries })
    this.#done({ ...item, status: 'completed', queries })
  }

  #addCall(call: ToolCall): void {
    this.#closeMessage()
    const tool = this.options.clientTools.find(({ spec }) => spec.name === call.name)
    const namespace = tool?.namespace ? { namespace: tool.namespace } : {}
    const named = { call_id: call.id, name: tool?.name ?? call.name, ...namespace }
    if (tool?.kind === 'custom') this.#addCustomCall(named, inputOf(call))
    else if (tool?.kind === 'tool_search') this.#addToolSearch(call)
    else this.#addFunctionCall(named, call.arguments)
  }

  #addFunctionCall(named: NamedCall, args: string): void {
    const { name } = named
    const item = { type: 'function_call', id: `fc_${newId()}`, ...named } as const
    const place = { item_id: item.id, output_index: this.#output.length }
    this.#added({ ...item, status: 'in_progress', arguments: '' })
    this.#events.send('response.function_call_arguments.delta', { ...place, delta: args })
    this.#events.send('response.function_call_arguments.done', { ...place, name, arguments: args })
    this.#done({ ...item, status: 'completed', arguments: args })
  }

  #addCustomCall(named: NamedCall, input: string): void {
    const item = { type: 'custom_tool_call', id: `ctc_${newId()}`, ...named } as const
    const place = { item_id: item.id, output_index: this.#output.length }
    this.#added({ ...item, status: 'in_progress', input: '' })
    this.#events.send('response.custom_tool_call_input.delta', { ...place, delta: input })
    this.#events.send('response.custom_tool_call_input.done', { ...place, input })
    this.#done({ ...item, status: 'completed', input })
  }

  #addToolSearch({ id, arguments: args }: ToolCall): void {
    const item = { type: 'tool_search_call', id: `tsc_${newId()}`, call_id: id } as const
    const search = { ...item, execution: 'client', arguments: objectOf(args) } as const
    this.#added({ ...search, status: 'in_progress' })
    this.#done({ ...search, status: 'completed' })
  }

  #added(item: OutputItem): void {
    this.#events.send('response.output_item.added', { output_index: this.#output.length, item })
  }

  #done(item: OutputItem): void {
    this.#events.send('response.output_item.done', { output_index: this.#output.length, item })
    this.#output.push(item)
  }
}

const messageOf = (
  id: string,
  status: 'in_progress' | 'completed' | 'incomplete',
  content: readonly OutputText[],
): OutputItem => ({ type: 'message', id, status, role: 'assistant', content })

const partOf = (text: string, annotations: readonly object[]): OutputText => ({
  type: 'output_text',
  text,
  annotations,
  logprobs: [],
})

/** The query in the arguments of a search; empty when they have none. */
function queryOf(given: string | undefined): string {
  const { query } = objectOf(given ?? '')
  return typeof query === 'string' ? query : ''
}
