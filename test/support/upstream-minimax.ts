/** MiniMax's `POST /t2a_v2`: each request uses the next script, then repeats the last one. */
export interface MiniMaxAnswer {
  /** Sound of each event in order; sent as hex. */
  readonly chunks?: readonly Uint8Array[]
  /** `base_resp` of every event; default 0. */
  readonly code?: number
  readonly message?: string
  readonly http?: number
  /** One JSON object instead of events. */
  readonly whole?: boolean
  /** Sends no closing event, which would repeat the whole sound. */
  readonly cut?: boolean
  /** Bytes in one write. */
  readonly step?: number
}

interface Body {
  readonly text: string
  readonly stream: boolean
  readonly voice_setting: { readonly voice_id: string }
  readonly audio_setting: { readonly sample_rate: number; readonly format: string }
}

export function startMiniMax(...script: readonly MiniMaxAnswer[]) {
  const requests: { url: URL; headers: Headers; body: Body }[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const body = (await request.json()) as Body
      requests.push({ url: new URL(request.url), headers: request.headers, body })
      const answer = script[Math.min(requests.length, script.length) - 1] ?? {}
      if (answer.http) return new Response('SECRET', { status: answer.http })
      if (answer.whole) return Response.json(event(answer, answer.chunks ?? [], 2))
      return new Response(events(answer), { headers: { 'content-type': 'text/event-stream' } })
    },
  })
  return {
    baseUrl: `http://127.0.0.1:${server.port}/v1?GroupId=42`,
    requests,
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

function events(answer: MiniMaxAnswer): ReadableStream<Uint8Array> {
  const chunks = answer.chunks ?? []
  const all = chunks.map((chunk) => event(answer, [chunk], 1))
  if (!answer.cut) all.push(event(answer, chunks, 2))
  const text = all.map((item) => `data: ${JSON.stringify(item)}\n\n`).join('')
  const bytes = new TextEncoder().encode(text)
  const step = answer.step ?? 5_003
  let at = 0
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close()
      controller.enqueue(bytes.subarray(at, at + step))
      at += step
    },
  })
}

function event(
  { code = 0, message = 'success' }: MiniMaxAnswer,
  sound: readonly Uint8Array[],
  status: number,
) {
  const base_resp = { status_code: code, status_msg: message }
  if (code !== 0) return { data: null, base_resp, trace_id: 'SECRET' }
  return { data: { audio: Buffer.concat([...sound]).toString('hex'), status }, base_resp }
}
