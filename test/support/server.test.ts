import { describe, expect, test } from 'bun:test'
import { startServer } from './server.ts'
import { tempFolder } from './temp.ts'

/** A program that prints the listening line of the product and answers with its data folder. */
const program = (body: string) => [process.execPath, '-e', body]
const WELL = program(`
  const server = Bun.serve({ port: 0, fetch: () => new Response(process.env.MB_DATA_DIR) })
  process.on('SIGTERM', () => process.exit(3))
  console.log('hello')
  console.log(JSON.stringify({ level: 'info', event: 'listening', url: server.url.href }))
`)

describe('startServer', () => {
  test('startServer waits for the address, and stop gives the exit code', async () => {
    using folder = tempFolder()
    await using server = await startServer({ dataDir: folder.path, command: WELL })
    expect(await (await fetch(server.url)).text()).toBe(folder.path)
    expect(server.output()).toStartWith('hello\n')
    expect(await server.stop()).toBe(3)
  })

  test('kill ends a server without a graceful stop', async () => {
    using folder = tempFolder()
    const server = await startServer({ dataDir: folder.path, command: WELL })
    expect(await server.kill()).toBe(137)
  })

  test('startServer says what was printed when the program ends too early', async () => {
    using folder = tempFolder()
    const command = program('console.error("MB_PORT must be a number"); process.exit(1)')
    const started = startServer({ dataDir: folder.path, command })
    await expect(started).rejects.toThrow('ended with 1:\nMB_PORT must be a number')
  })
})
