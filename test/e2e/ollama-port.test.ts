import { expect, test } from 'bun:test'
import { selfSigned } from '../support/certificate.ts'
import { createKey } from '../support/key.ts'
import { run } from '../support/run.ts'
import { type Server, startServer } from '../support/server.ts'
import { tempFolder } from '../support/temp.ts'

const portOf = ({ printed }: Server) =>
  printed.until((text) => {
    const line = text.split('\n').find((one) => one.includes('"ollama port listens"'))
    return line === undefined ? null : (JSON.parse(line) as { port: number }).port
  })

test('the port for clients without a key is told at the start and by the doctor', async () => {
  using folder = tempFolder()
  const { key } = await createKey(folder.path)
  expect((await run(['doctor'], folder.path)).out).toContain('MB_OLLAMA_PORT and MB_OLLAMA_KEY')
  const open = { MB_OLLAMA_KEY: key, MB_HOST: '0.0.0.0' }
  await using server = await startServer({
    dataDir: folder.path,
    env: { ...open, MB_OLLAMA_PORT: '0' },
  })
  const port = await portOf(server)
  const output = server.output()
  expect(output).toContain('MB_OLLAMA_PORT is open to the network without a key')
  expect(output).toContain(`"ollama":"0.0.0.0:${port}, open to the network"`)
  const { out } = await run(['doctor'], folder.path, { ...open, MB_OLLAMA_PORT: String(port) })
  expect(out).toContain(`answers at 0.0.0.0:${port}`)
  const wrong = await run(['serve'], tempFolder().path, {
    ...open,
    ...{ MB_OLLAMA_PORT: String(port), MB_PORT: '0' },
  })
  expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining(`MB_OLLAMA_PORT ${port}`)])
}, 60_000)

test('the port speaks https where the server does, and tells of a key that is none', async () => {
  using folder = tempFolder()
  const { cert, key } = selfSigned('localhost')
  const files = { MB_TLS_CERT: folder.file('a.pem'), MB_TLS_KEY: folder.file('a.key') }
  await Bun.write(files.MB_TLS_CERT, cert)
  await Bun.write(files.MB_TLS_KEY, key)
  const dataDir = folder.file('data')
  const env = { ...files, MB_OLLAMA_KEY: 'sk-mb-unknown' }
  await using server = await startServer({ dataDir, env: { ...env, MB_OLLAMA_PORT: '0' } })
  const port = await portOf(server)
  expect(server.output()).toContain('its key is unknown or revoked')
  for (const host of ['localhost', 'a']) {
    const answer = await fetch(`https://localhost:${port}/api/version`, {
      headers: { host },
      tls: { ca: cert },
    })
    expect(await answer.json()).toEqual({ version: '0.30.0' })
  }
  const { out } = await run(['doctor'], dataDir, { ...env, MB_OLLAMA_PORT: String(port) })
  expect(out).toContain('the key is unknown or revoked')
}, 60_000)
