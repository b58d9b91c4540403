import { expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { createKey } from '../support/key.ts'
import { startServer } from '../support/server.ts'
import { tempFolder } from '../support/temp.ts'
import { startUpstream } from '../support/upstream.ts'

/** Bun runs 256 fetches at a time unless the server has lifted the limit at its start. */
const STREAMS = 300

/** Sends a turn over a connection of its own; resolves with it when the first words have come. */
function openTurn(url: string, authorization: string, session: string): Promise<Socket> {
  const body = JSON.stringify({ text: 'hi', kb: false, session_id: session })
  const head = [
    'POST /v1/agent HTTP/1.1',
    'Host: localhost',
    `Authorization: ${authorization}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ]
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  return new Promise((resolve, reject) => {
    let text = ''
    socket.on('error', reject)
    socket.on('data', (bytes) => {
      text += bytes.toString('utf8')
      if (text.includes('llm_delta')) resolve(socket)
    })
  })
}

test('hundreds of turns stream at once, and clients that leave free the model', async () => {
  using folder = tempFolder()
  const upstream = await startUpstream()
  const env = { MB_LLM_BASE_URL: upstream.baseUrl, MB_LLM_MODEL: 'fake' }
  const { headers } = await createKey(folder.path)
  await using server = await startServer({ dataDir: folder.path, env })
  upstream.chat.always({ pieces: ['a', 'b'], keepOpen: true, finish: null, done: false })
  const open = (round: string) =>
    Promise.all(
      Array.from({ length: STREAMS }, (_, n) =>
        openTurn(server.url, headers.authorization, `${round}${n}`),
      ),
    )
  for (const round of ['first', 'second']) {
    const sockets = await open(round)
    expect(upstream.active()).toBe(STREAMS)
    const left = upstream.aborts() + STREAMS
    for (const socket of sockets) socket.destroy()
    await upstream.aborted(left)
  }
  await upstream.stop()
})
