import { describe, expect, test } from 'bun:test'
import { createKey } from '../support/key.ts'
import { type Server, type ServerOptions, startServer } from '../support/server.ts'
import { postSse } from '../support/sse.ts'
import { tempFolder } from '../support/temp.ts'
import { startUpstream } from '../support/upstream.ts'

/** What an open turn brings when the server is told to stop by `tell` after the first words. */
async function turnThrough(
  options: Omit<ServerOptions, 'dataDir'>,
  tell: (server: Server, finishTurn: () => void) => Promise<unknown>,
) {
  using folder = tempFolder()
  const upstream = await startUpstream()
  const env = { ...options.env, MB_LLM_BASE_URL: upstream.baseUrl, MB_LLM_MODEL: 'fake' }
  const { headers } = await createKey(folder.path)
  await using server = await startServer({ ...options, dataDir: folder.path, env })
  const gate = Promise.withResolvers<void>()
  upstream.reply({ pieces: ['a', 'b'], hold: { after: 1, until: gate.promise } })
  const asked = { ...headers, connection: 'close' }
  const stream = await postSse(`${server.url}/v1/agent`, { headers: asked, body: { text: 'hi' } })
  const types: unknown[] = []
  let told: Promise<unknown> | null = null
  for await (const { data } of stream) {
    types.push(data.type)
    if (data.type === 'llm_delta') told ??= tell(server, gate.resolve)
  }
  await told
  await upstream.stop()
  return types
}

const stopping = (server: Server) =>
  server.printed.until((text) => (text.includes('"stopping"') ? text : null))

describe('told to stop', () => {
  test('a server that is told to stop twice at once still ends its turns', async () => {
    const types = await turnThrough({}, async (server, finishTurn) => {
      process.kill(server.pid, 'SIGHUP')
      await stopping(server)
      process.kill(server.pid, 'SIGHUP')
      process.kill(server.pid, 'SIGTERM')
      finishTurn()
    })
    expect(types.at(-1)).toBe('llm_end')
  })

  test.skipIf(!Bun.which('npm'))(
    'npm start passes a stop signal on and waits until the server ended its turns',
    async () => {
      let code = -1
      const types = await turnThrough(
        { command: ['npm', 'start', '--'] },
        async (server, finishTurn) => {
          const stopped = server.stop()
          await stopping(server)
          finishTurn()
          code = await stopped
          await expect(fetch(`${server.url}/healthz`)).rejects.toThrow()
        },
      )
      expect(types.at(-1)).toBe('llm_end')
      expect(code).toBe(0)
    },
    60_000,
  )
})
