// A program: an OpenAI-compatible upstream that is faster than what it measures. Each token is a
// write of its own, paced as the plan says; the plan is set before a measure by PUT /plan.
import { CLOSING, OPENING, tokenChunk } from './chunks.ts'
import { directStream } from './direct-stream.ts'
import { hostilePage, longSpeech, packedModel, pagesModel } from './hostile-upstream.ts'
import { createPacer } from './pacer.ts'
import { stubSpeech, stubTranscript } from './stub-voice.ts'

/** What every stream does until the next plan. */
export interface Plan {
  readonly tokens: number
  /** Between two tokens; 0 sends all of them in one write. */
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
    // Streams that start together do not stay together, as they would not elsewhere.
    let due = performance.now() + Math.random() * delayMs
    let left = tokens
    const next = () => {
      if (gone) return resolve()
      controller.write(tokenChunk())
      left--
      // The last token leaves with the closing chunks.
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
    '/pages/v1/models': Response.json({ object: 'list', data: [] }),
    '/pages/v1/chat/completions': { POST: pagesModel },
    '/page': hostilePage,
    '/packed/v1/models': Response.json({ object: 'list', data: [] }),
    '/packed/v1/chat/completions': { POST: packedModel },
    '/long/v1/audio/speech': { POST: longSpeech },
  },
})
process.stdout.write(`${JSON.stringify({ event: 'listening', url: server.url.href })}\n`)
