import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { createKey } from '../support/key.ts'
import { importManyPersonas } from '../support/many-personas.ts'
import { startServer } from '../support/server.ts'
import { tempFolder } from '../support/temp.ts'

const CHUNK = { choices: [{ delta: { content: 'x'.repeat(16_384) } }] }
const PIECE = `data: ${JSON.stringify(CHUNK)}\n\n`
const CLIENTS = 8
const DOORS = ['/v1/agent', '/v1/messages', '/ollama/api/chat'] as const

/** An upstream that says more for as long as somebody takes it. */
function endlessUpstream() {
  let taken = 0
  let ended = 0
  const all = Promise.withResolvers<void>()
  const server = Bun.serve({
    port: 0,
    idleTimeout: 0,
    fetch: () => {
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          taken += PIECE.length
          controller.enqueue(new TextEncoder().encode(PIECE))
        },
        cancel() {
          if (++ended === CLIENTS) all.resolve()
        },
      })
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
    },
  })
  return {
    baseUrl: `${server.url}v1`,
    taken: () => taken,
    allLeft: all.promise,
    stop: () => server.stop(true),
  }
}

/** A client that sends a request and then reads nothing at all. */
function deaf(url: string, authorization: string, line: string, body = ''): Socket {
  const head = [
    `${line} HTTP/1.1`,
    'Host: localhost',
    `Authorization: ${authorization}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ]
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => {})
  socket.pause()
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  return socket
}

const residentMib = (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

test.skipIf(process.platform !== 'linux')(
  'clients that read nothing slow their upstream down and fill no memory',
  async () => {
    using folder = tempFolder()
    const upstream = endlessUpstream()
    const { headers } = await createKey(folder.path)
    const env = { MB_LLM_BASE_URL: upstream.baseUrl, MB_LLM_MODEL: 'fake' }
    await using server = await startServer({ dataDir: folder.path, env })
    const ask = () => fetch(`${server.url}/v1/sessions`, { headers })
    for (let n = 0; n < 50; n++) await ask()
    const before = residentMib(server.pid)
    const sockets = Array.from({ length: CLIENTS }, (_, n) => {
      const path = DOORS[n % DOORS.length]
      const messages = [{ role: 'user', content: 'hi' }]
      const own = { text: 'hi', kb: false, session_id: crypto.randomUUID() }
      const body = JSON.stringify({ ...own, messages, max_tokens: 9, stream: true })
      return deaf(server.url, headers.authorization, `POST ${path}`, body)
    })

    // Until nothing more is taken in: the buffers on the way are full, and that is the end of it.
    for (let last = -1; last !== upstream.taken() || last === 0; ) {
      last = upstream.taken()
      for (let n = 0; n < 200; n++) expect((await ask()).status).toBe(200)
    }
    expect(upstream.taken()).toBeLessThan(CLIENTS * 32 * 1024 * 1024)
    expect(residentMib(server.pid) - before).toBeLessThan(150)
    for (const socket of sockets) socket.destroy()
    await upstream.allLeft
    await upstream.stop()
  },
  30_000,
)

test.skipIf(process.platform !== 'linux')(
  'clients that read nothing of a long export hold a piece of it each',
  async () => {
    using folder = tempFolder()
    const { headers } = await createKey(folder.path)
    await using server = await startServer({ dataDir: folder.path, env: {} })
    await importManyPersonas(server.url, headers)
    const before = residentMib(server.pid)
    const line = 'GET /v1/export'
    const sockets = Array.from({ length: 40 }, () => deaf(server.url, headers.authorization, line))
    for (let n = 0; n < 500; n++) {
      expect((await fetch(`${server.url}/v1/sessions`, { headers })).status).toBe(200)
    }
    // As a whole each, they take about a gigabyte.
    expect(residentMib(server.pid) - before).toBeLessThan(400)
    for (const socket of sockets) socket.destroy()
    const answer = await fetch(`${server.url}/v1/export`, { headers })
    const { personas } = (await answer.json()) as { personas: { name: string }[] }
    expect(personas.map(({ name }) => name).slice(0, 2)).toEqual(['0-0', '0-1'])
    expect(personas.length).toBe(1_000)
  },
  60_000,
)
