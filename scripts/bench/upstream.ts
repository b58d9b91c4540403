// A program: an OpenAI-compatible upstream that is faster than the measured servers. It writes each
// token separately, paced by the plan, which PUT /plan sets before a measure.
import { CLOSING, OPENING, tokenChunk } from './chunks.ts'
import { directStream } from './direct-stream.ts'
import { createPacer } from './pacer.ts'
import { stubSpeech, stubTranscript } from './stub-voice.ts'

/** The plan of every stream until the next PUT /plan. */
export interface Plan {
  readonly tokens: number
  /** Time between two tokens; 0 sends all tokens in one write. */
  readonly delayMs: number
}

const pacer = createPacer()
let plan: Plan = { tokens: 10, delayMs: 0 }

function stream(): Response {
  const { tokens, delayMs } = plan
  let gone = false
  const body = directStream({
    async pull(controller) {
      controller.write(OPENING)
      if (delayMs === 0) {
        for (let left = tokens; left > 0; left--) controller.write(tokenChunk())
      } else await paced(controller)
      if (gone) return
      controller.write(CLOSING)
      await controller.end()
    },
    cancel() {
      gone = true
    },
  })

  function paced(controller: ReadableStreamDirectController): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    // A random start offset keeps concurrent streams apart, as with real models.
    let due = performance.now() + Math.random() * delayMs
    let left = tokens
    const next = () => {
      if (gone) return resolve()
      controller.write(tokenChunk())
      left--
      // The last token is written together with the closing chunks.
      if (left === 0) return resolve()
      controller.flush()
      due += delayMs
      pacer.at(due, next)
    }
    next()
    return promise
  }

  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  idleTimeout: 0,
  development: false,
  routes: {
    '/plan': {
      PUT: async (request) => {
        plan = (await request.json()) as Plan
        return Response.json(plan)
      },
    },
    '/v1/models': Response.json({ object: 'list', data: [{ id: 'fake', object: 'model' }] }),
    '/v1/chat/completions': {
      POST: async (request) => {
        await request.arrayBuffer()
        return stream()
      },
    },
    '/v1/audio/speech': { POST: stubSpeech },
    '/v1/audio/transcriptions': { POST: stubTranscript },
  },
})
process.stdout.write(`${JSON.stringify({ event: 'listening', url: server.url.href })}\n`)
