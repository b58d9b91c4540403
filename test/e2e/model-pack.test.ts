import { describe, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createKey } from '../support/key.ts'
import { installModelPack } from '../support/llama-server.ts'
import { run } from '../support/run.ts'
import { type Server, startServer } from '../support/server.ts'
import { postSse } from '../support/sse.ts'
import { tempFolder } from '../support/temp.ts'

interface Call {
  readonly pid: number
  readonly host: string
  readonly model: string
  readonly secrets: readonly string[]
  readonly embedding?: boolean
  readonly 'api-key': string
  readonly 'ctx-size'?: string
}

const callsOf = (folder: string): Call[] =>
  readFileSync(`${folder}/calls.jsonl`, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Call)

const isRunning = (pid: number): boolean => {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ')[2] !== 'Z'
  } catch {
    return false
  }
}

async function gone(pid: number): Promise<void> {
  while (isRunning(pid)) await Bun.sleep(20)
}

async function ask(server: Server, headers: Readonly<Record<string, string>>, text: string) {
  const body = { text, kb: false }
  const events = await (await postSse(`${server.url}/v1/agent`, { headers, body })).all()
  return events.at(-1)?.data as { type: string; reply?: string; code?: string }
}

async function check(server: Server, name: string) {
  const report = (await (await fetch(`${server.url}/status?format=json`)).json()) as {
    checks: { name: string; state: string; class: string }[]
  }
  return report.checks.find((one) => one.name === name)
}

describe('a model pack', () => {
  test('a model in the data folder answers on loopback and ends with the server', async () => {
    using folder = tempFolder()
    const data = folder.file('data')
    const models = ['moon-7b.gguf', 'moon-embed.gguf', 'moon-rerank.gguf', 'mmproj-moon.gguf']
    const pack = installModelPack(data, models)
    const env = { MB_MODEL_ARGS: '-c 4096 --host 0.0.0.0', MB_METRICS_TOKEN: 'a secret' }
    await using server = await startServer({ dataDir: data, env })
    const { headers } = await createKey(data)
    // The first turn waits for the model.
    expect(await ask(server, headers, 'hello')).toMatchObject({ reply: 'the pack heard hello' })
    expect(await check(server, 'llm')).toMatchObject({ state: 'ok', class: 'ok' })
    expect(await check(server, 'rerank')).toMatchObject({ state: 'ok', class: 'standby' })
    const [chat] = callsOf(pack)
    expect(chat).toMatchObject({ host: '127.0.0.1', 'ctx-size': '4096', secrets: [] })
    expect(chat?.model).toEndWith('moon-7b.gguf')
    expect(chat?.['api-key']).toMatch(/^[0-9a-f]{48}$/)
    expect(server.output()).not.toContain(chat?.['api-key'] ?? '')

    // A crash is one failed turn.
    expect(await ask(server, headers, 'crash now')).toMatchObject({ type: 'error' })
    expect(await ask(server, headers, 'again')).toMatchObject({ reply: 'the pack heard again' })

    // Longer than what the program takes of itself.
    const doc = { title: 'Moon', text: 'The crater Shackleton lies at the south pole. '.repeat(13) }
    const json = { ...headers, 'content-type': 'application/json' }
    const added = await fetch(`${server.url}/v1/kb/docs`, {
      method: 'POST',
      headers: json,
      body: JSON.stringify(doc),
    })
    expect(added.status).toBe(201)
    const calls = callsOf(pack)
    expect(calls.find(({ embedding }) => embedding)).toMatchObject({ 'ctx-size': '2048' })
    expect(await server.stop()).toBe(0)
    await Promise.all(calls.map(({ pid }) => gone(pid)))
  })

  test('a killed server leaves no model behind', async () => {
    using folder = tempFolder()
    const data = folder.file('data')
    const pack = installModelPack(data, ['moon.gguf'])
    await using server = await startServer({ dataDir: data })
    await server.printed.until((text) => text.includes('"model ready"') || null)
    const [call] = callsOf(pack)
    expect(isRunning(call?.pid ?? 0)).toBe(true)
    await server.kill()
    await gone(call?.pid ?? 0)
  })

  test('a model that does not start is shown on the status page and started again', async () => {
    using folder = tempFolder()
    const data = folder.file('data')
    const pack = installModelPack(data, ['moon.gguf'])
    writeFileSync(`${pack}/broken`, '')
    await using server = await startServer({ dataDir: data })
    const { headers } = await createKey(data)
    const line = await server.printed.until((text) => /.*"model ended".*/.exec(text)?.[0] ?? null)
    expect(line).toContain('error loading model: missing tensor')
    expect(line).toContain('"status":1')
    expect(await check(server, 'llm')).toMatchObject({ state: 'down' })
    rmSync(`${pack}/broken`)
    expect(await ask(server, headers, 'hello')).toMatchObject({ reply: 'the pack heard hello' })
  })

  test('doctor says what a model pack has and lacks, and starts nothing', async () => {
    using folder = tempFolder()
    const data = folder.file('data')
    const pack = installModelPack(data, [])
    expect((await run(['doctor'], data)).out).toContain(`lacks a *.gguf file in ${pack}`)
    writeFileSync(`${pack}/moon.gguf`, 'GGUF')
    expect((await run(['doctor'], data)).out).toContain('llama-server with moon.gguf')
    mkdirSync(`${pack}/llama-b7000`)
    renameSync(`${pack}/llama-server`, `${pack}/llama-b7000/llama-server`)
    for (const kind of ['embed', 'rerank']) writeFileSync(`${pack}/moon-${kind}.gguf`, 'GGUF')
    const { out } = await run(['doctor'], data)
    expect(out).toContain('llama-server with moon-embed.gguf, moon-rerank.gguf, moon.gguf')
    for (const part of ['Language model', 'Embedding', 'Reranking']) {
      expect(out).toMatch(new RegExp(`ok +${part} +the one of the model pack`))
    }
    expect(() => callsOf(pack)).toThrow()
  })
})
