/**
 * A real HTTP server in place of any OpenAI-compatible upstream. Answers are scripted: each
 * endpoint uses the next script of its queue, and its default once the queue is empty.
 *
 *   const upstream = await startUpstream()
 *   upstream.reply({ text: '你好' })
 *   upstream.fault('cut', { after: 2 })
 *   upstream.fault(429, { retryAfter: '1' })
 *   upstream.speech.fault(500)
 *   const request = await upstream.nextRequest()
 *
 * Error bodies carry the word SECRET, so that a test can assert that nothing leaked.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ChatAnswer, type ChatFault, chatFault, streamChat } from './upstream-chat.ts'
import { type EmbeddingAnswer, sendEmbeddings } from './upstream-embeddings.ts'
import { type Exchange, type Received, receive } from './upstream-exchange.ts'
import { type Fault, type FaultOptions, playFault, sendJson } from './upstream-fault.ts'
import { type Script, scriptQueue } from './upstream-queue.ts'
import { createRecord } from './upstream-record.ts'
import {
  type SpeechAnswer,
  sendSpeech,
  sendTranscript,
  type Transcript,
} from './upstream-speech.ts'

export type Upstream = Awaited<ReturnType<typeof startUpstream>>

/** Binds to `port`, by default a free one. */
export async function startUpstream({ port = 0 } = {}) {
  const record = createRecord()
  const named = createRecord()
  const endpoints = createEndpoints()
  let active = 0
  let connections = 0

  const server = createServer(async (incoming, response) => {
    let closed = false
    active++
    response.on('close', () => {
      closed = true
      active--
      const kind = exchange && isForTitle(exchange.request) ? named : record
      if (!response.writableFinished && !exchange?.brokenOff) kind.addAbort()
    })
    let exchange: Exchange | null = null
    const request = await receive(incoming).catch(() => null)
    if (!request) return
    exchange = { request, response, left: () => closed }
    if (isForTitle(request)) named.add(request)
    else record.add(request)
    const script = endpoints.of(request)
    if (script) await script.play(exchange)
    else sendJson(exchange, 404, { error: { message: 'SECRET unknown path' } })
  })
  server.on('connection', () => connections++)
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const { port: bound } = server.address() as AddressInfo

  return {
    port: bound,
    /** Root for an OpenAI-compatible client. */
    baseUrl: `http://127.0.0.1:${bound}/v1`,
    ...endpoints.scripts,
    /** Queues a chat answer; a function gets the request first. */
    reply: endpoints.scripts.chat.reply,
    /** Requests for titles of talks, which are not among `requests`. */
    named,
    /** Queues a chat fault. */
    fault: endpoints.scripts.chat.fault,
    requests: record.requests,
    nextRequest: record.next,
    aborts: record.aborts,
    aborted: record.aborted,
    /** Requests that are being answered now. */
    active: () => active,
    /** Number of TCP connections so far. */
    connections: () => connections,
    /** Forgets requests, aborts and scripts, for use between two tests. */
    reset(): void {
      record.reset()
      named.reset()
      for (const script of Object.values(endpoints.scripts)) script.reset()
    },
    async stop(): Promise<void> {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

/** Whether a model is asked for the title of a talk. */
const isForTitle = ({ path, body }: Received): boolean =>
  path === '/chat/completions' && String(body.messages[0]?.content).startsWith('给下面的对话起')

function createEndpoints() {
  const scripts = {
    chat: scriptQueue<ChatAnswer, ChatFault>({ text: '好的' }, streamChat, chatFault),
    // Titles of talks, so that they take no answer from a turn; a blank one is none.
    titles: scriptQueue<ChatAnswer, ChatFault>({ text: ' ' }, streamChat, chatFault),
    models: scriptQueue<ModelsAnswer, Fault>(
      { ids: ['fake', 'fake-embed', 'fake-2'] },
      sendModels,
      playFault,
    ),
    embeddings: scriptQueue<EmbeddingAnswer, Fault>({}, sendEmbeddings, playFault),
    rerank: scriptQueue<RerankAnswer, Fault>({}, sendRanking, playFault),
    speech: scriptQueue<SpeechAnswer, Fault>({}, sendSpeech, playFault),
    transcriptions: scriptQueue<Transcript, Fault>(
      { text: '你好，今天天气怎么样？' },
      sendTranscript,
      playFault,
    ),
  }
  const byPath: Readonly<Record<string, Script>> = {
    '/chat/completions': scripts.chat,
    '/models': scripts.models,
    '/embeddings': scripts.embeddings,
    '/rerank': scripts.rerank,
    '/audio/speech': scripts.speech,
    '/audio/transcriptions': scripts.transcriptions,
  }
  const of = (request: Received): Script | undefined =>
    isForTitle(request) ? scripts.titles : byPath[request.path]
  return { scripts, of }
}

/** A base URL without a server: connections are refused. */
export async function refusedUrl(): Promise<string> {
  const upstream = await startUpstream()
  await upstream.stop()
  return upstream.baseUrl
}

export interface RerankAnswer {
  /** In place of a ranking of the documents from the last to the first. */
  readonly results?: readonly unknown[]
}

function sendRanking(exchange: Exchange, answer: RerankAnswer): void {
  const documents = exchange.request.body.documents as unknown[]
  const results = documents.map((_, index) => ({ index, relevance_score: index / 100 }))
  sendJson(exchange, 200, { results: answer.results ?? results })
}

interface ModelsAnswer {
  readonly ids: readonly string[]
  /** Fields of each model that only some servers list. */
  readonly more?: object
}

function sendModels(exchange: Exchange, { ids, more }: ModelsAnswer): void {
  const given = { object: 'model', created: 1_700_000_000, owned_by: 'fake', ...more }
  const data = ids.map((id) => ({ id, ...given }))
  sendJson(exchange, 200, { object: 'list', data })
}

export type { ChatAnswer, ChatFault, Fault, FaultOptions, Received }
