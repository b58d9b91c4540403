/**
 * A real HTTP server that stands for any OpenAI-compatible upstream. Answers are scripted: each
 * endpoint takes the next script of its queue, and its default once the queue is empty.
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
import { type SpeechAnswer, sendSpeech, sendTranscript } from './upstream-speech.ts'

export type Upstream = Awaited<ReturnType<typeof startUpstream>>

/** Binds to `port`, by default a free one. */
export async function startUpstream({ port = 0 } = {}) {
  const requests: Received[] = []
  const waiting: { path: string | null; resolve: (request: Received) => void }[] = []
  const untaken: Received[] = []
  const abortWaiters: { count: number; resolve: () => void }[] = []
  let aborts = 0
  let active = 0
  let connections = 0

  const chat = scriptQueue<ChatAnswer, ChatFault>({ text: '好的' }, streamChat, chatFault)
  const models = scriptQueue({ ids: ['fake', 'fake-embed'] }, sendModels, playFault)
  const embeddings = scriptQueue<EmbeddingAnswer, Fault>({}, sendEmbeddings, playFault)
  const speech = scriptQueue<SpeechAnswer, Fault>({}, sendSpeech, playFault)
  const transcriptions = scriptQueue({ text: '你好，今天天气怎么样？' }, sendTranscript, playFault)
  const endpoints: Record<string, Script> = {
    '/chat/completions': chat,
    '/models': models,
    '/embeddings': embeddings,
    '/audio/speech': speech,
    '/audio/transcriptions': transcriptions,
  }

  function arrived(request: Received): void {
    requests.push(request)
    const at = waiting.findIndex(({ path }) => path === null || path === request.path)
    if (at < 0) untaken.push(request)
    else waiting.splice(at, 1)[0]?.resolve(request)
  }

  function left(): void {
    aborts++
    for (const waiter of abortWaiters.filter(({ count }) => aborts >= count)) waiter.resolve()
  }

  const server = createServer(async (incoming, response) => {
    let closed = false
    active++
    response.on('close', () => {
      closed = true
      active--
      if (!response.writableFinished && !exchange?.brokenOff) left()
    })
    let exchange: Exchange | null = null
    const request = await receive(incoming).catch(() => null)
    if (!request) return
    exchange = { request, response, left: () => closed }
    arrived(request)
    const script = endpoints[request.path]
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
    chat,
    models,
    embeddings,
    speech,
    transcriptions,
    /** Queues a chat answer; a function sees the request first. */
    reply: chat.reply,
    /** Queues a broken chat answer. */
    fault: chat.fault,
    /** Every request so far, oldest first. */
    requests,
    /** Requests that the client left before the answer was complete. */
    aborts: () => aborts,
    /** Requests that are being answered now. */
    active: () => active,
    /** TCP connections so far. */
    connections: () => connections,
    /** Forgets requests, aborts and scripts, for use between two tests. */
    reset(): void {
      requests.length = 0
      untaken.length = 0
      aborts = 0
      for (const script of Object.values(endpoints)) script.reset()
    },
    /** The oldest request that was not taken yet, or the next to come. */
    nextRequest(path: string | null = null): Promise<Received> {
      const at = untaken.findIndex((request) => path === null || request.path === path)
      const [taken] = at < 0 ? [] : untaken.splice(at, 1)
      if (taken) return Promise.resolve(taken)
      return new Promise((resolve) => waiting.push({ path, resolve }))
    },
    /** Resolves when clients have left at least `count` unfinished answers. */
    aborted(count = 1): Promise<void> {
      if (aborts >= count) return Promise.resolve()
      return new Promise((resolve) => abortWaiters.push({ count, resolve }))
    },
    async stop(): Promise<void> {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

/** A base URL at which nobody listens: connections are refused. */
export async function refusedUrl(): Promise<string> {
  const upstream = await startUpstream()
  await upstream.stop()
  return upstream.baseUrl
}

function sendModels(exchange: Exchange, { ids }: { readonly ids: readonly string[] }): void {
  const data = ids.map((id) => ({ id, object: 'model', created: 1_700_000_000, owned_by: 'fake' }))
  sendJson(exchange, 200, { object: 'list', data })
}

export type { ChatAnswer, ChatFault, Fault, FaultOptions, Received }
