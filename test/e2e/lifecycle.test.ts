import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SETTINGS } from '../../src/config.ts'
import { caller } from '../support/api.ts'
import { startApp } from '../support/app.ts'
import { environment, moonbase, ROOT } from '../support/command.ts'
import { createKey } from '../support/key.ts'
import { run } from '../support/run.ts'
import { startServer } from '../support/server.ts'
import { postSse } from '../support/sse.ts'
import { tempFolder } from '../support/temp.ts'
import { startUpstream } from '../support/upstream.ts'

test('an unhandled rejection is logged and ends nothing', async () => {
  using folder = tempFolder()
  const preload = join(ROOT, 'test/fixtures/stray-faults.ts')
  await using server = await startServer({
    dataDir: folder.path,
    command: [process.execPath, '--preload', preload, join(ROOT, 'src/main.ts')],
    // The program would replace itself to set it, and lose the preloaded faults.
    env: { BUN_CONFIG_MAX_HTTP_REQUESTS: '65336', MB_METRICS_TOKEN: 'scrape' },
  })
  process.kill(server.pid, 'SIGUSR2')
  for (const fault of [
    /"unexpected fault".*stray exception/,
    /"unexpected fault".*stray rejection/,
  ]) {
    await server.printed.until((text) => fault.exec(text))
  }
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
  const scrape = { headers: { authorization: 'Bearer scrape' } }
  const metrics = await (await fetch(`${server.url}/metrics`, scrape)).text()
  expect(metrics).toMatch(/^moonbase_unexpected_faults_total 2$/m)
})

describe('the command line', () => {
  test('the command line stops at a wrong setting with one sentence naming it', async () => {
    using folder = tempFolder()
    const { err, code } = await run(['serve'], folder.path, { MB_LLM_BASE_URL: 'localhost' })
    expect(code).toBe(1)
    expect(err.trim().split('\n')).toHaveLength(1)
    expect(err).toContain('MB_LLM_BASE_URL')
    expect(readdirSync(folder.path)).toEqual([])
  })

  test('the command line stops at a mistyped command and points to --help', async () => {
    using folder = tempFolder()
    const create = ['key', 'create']
    const wrong = [
      ['srve'],
      ['key'],
      ['key', 'crate'],
      [...create, '--mail', 'x'],
      [...create, '--rate-limit', '-1'],
      [...create, '--daily-tokens', '1.5'],
      [...create, '--name', '名'.repeat(61)],
      [...create, '--email', 'nobody@nowhere'],
    ]
    for (const args of wrong) {
      const { err, code } = await run(args, folder.path)
      expect(code).toBe(1)
      expect(err).toStartWith('moonbase: ')
      expect(err.trim().split('\n')).toHaveLength(1)
    }
  })

  test('a key gets the name and the daily budget that the command line names', async () => {
    await using app = await startApp()
    const named = ['--name', ' 门店 ', '--daily-tokens', '5000', '--email', 'a@example.com']
    const { code } = await run(['key', 'create', ...named], app.dataDir)
    expect(code).toBe(0)
    const person = caller(`${app.url}/console`, (await app.person('a@example.com')).headers)
    type Keys = { keys: { name: string; daily_tokens: number }[] }
    expect((await person<Keys>('GET', '/keys')).json().keys).toMatchObject([
      { name: '门店', daily_tokens: 5_000 },
    ])
  })

  test('the help of the command line lists every command and setting', async () => {
    using folder = tempFolder()
    const { out, code } = await run(['--help'], folder.path)
    expect(code).toBe(0)
    const commands = ['serve', 'key create', 'backup', 'restore', 'doctor', 'version']
    for (const word of [...commands, ...Object.keys(SETTINGS)]) {
      expect(out).toMatch(new RegExp(`^ +${word}\\b`, 'm'))
    }
    expect((await run(['version'], folder.path)).out).toMatch(/^moonbase \d+\.\d+\.\d+\n$/)
  })

  test('the command line makes keys before the server has run, and while it runs', async () => {
    using folder = tempFolder()
    const before = await createKey(folder.path, { email: 'A@Example.com ' })
    await using server = await startServer({ dataDir: folder.path })
    const during = await createKey(folder.path, { email: 'a@example.com' })
    for (const { key, headers } of [before, during]) {
      expect(key).toMatch(/^sk-mb-[0-9a-f]{64}$/)
      expect((await fetch(`${server.url}/v1/sessions`, { headers })).status).toBe(200)
    }
  })

  test('keys are made while other commands and the server start on a new folder', async () => {
    using folder = tempFolder()
    const emails = ['a@example.com', 'b@example.com', 'a@example.com']
    const starting = startServer({ dataDir: folder.path })
    const keys = await Promise.allSettled(emails.map((email) => createKey(folder.path, { email })))
    await using server = await starting
    for (const key of keys) {
      if (key.status === 'rejected') throw key.reason
      const { headers } = key.value
      expect((await fetch(`${server.url}/v1/sessions`, { headers })).status).toBe(200)
    }
    expect(readdirSync(folder.path)).not.toContain('backups')
  })

  test('the server has started itself anew with what Bun reads before a start', async () => {
    const env = { BUN_ENABLE_CRASH_REPORTING: '1' }
    using folder = tempFolder()
    await using server = await startServer({ dataDir: folder.path, env })
    const names = readFileSync(`/proc/${server.pid}/environ`, 'utf8').split('\0')
    expect(names).toContain('BUN_CONFIG_MAX_HTTP_REQUESTS=65336')
    // What the operator has set stays.
    expect(names).toContain('BUN_ENABLE_CRASH_REPORTING=1')
    const isExecutable = process.env.MOONBASE_BIN !== undefined
    const later = names.filter((name) => name.startsWith('BUN_JSC_'))
    expect(later).toHaveLength(isExecutable ? 1 : 0)
  })

  test('a started server prints its address, what it uses and how to sign in', async () => {
    using folder = tempFolder()
    await using server = await startServer({ dataDir: folder.path })
    const line = server
      .output()
      .split('\n')
      .find((text) => text.includes('"listening"'))
    expect(JSON.parse(line ?? '')).toMatchObject({
      url: server.url,
      data: folder.path,
      channel: expect.stringContaining('built-in responder'),
      embedding: expect.stringContaining('on this machine'),
      voice: expect.stringContaining('speaks with'),
      sign_in: `${server.url}/login (codes are shown here)`,
    })
  })

  test('a new key is printed with how to use it', async () => {
    using folder = tempFolder()
    const { out } = await run(['key', 'create'], folder.path)
    expect(out).toMatch(/sk-mb-[0-9a-f]{64}/)
    expect(out).toContain('curl -N')
  })

  test('the files of a data folder hold neither key nor prompt', async () => {
    using folder = tempFolder()
    const { key } = await createKey(folder.path)
    for (const name of readdirSync(folder.path).filter((file) => file.startsWith('moonbase.db'))) {
      expect((await Bun.file(folder.file(name)).bytes()).includes(0)).toBe(true)
      expect(await Bun.file(folder.file(name)).text()).not.toContain(key)
    }
  })

  test('a server whose port is taken says so', async () => {
    using folder = tempFolder()
    using other = tempFolder()
    await using server = await startServer({ dataDir: folder.path })
    const { code, err } = await run(['serve'], other.path, { MB_PORT: new URL(server.url).port })
    expect(code).toBe(1)
    expect(err.trim().split('\n')).toHaveLength(1)
    expect(err).toContain('MB_PORT')
  })
})

describe('an acknowledged turn', () => {
  test('an acknowledged turn survives kill -9 right after llm_end', async () => {
    using folder = tempFolder()
    const { headers } = await createKey(folder.path)
    for (let round = 1; round <= 5; round++) {
      const server = await startServer({ dataDir: folder.path })
      const body = { text: `turn ${round}`, session_id: 's' }
      for await (const { data } of await postSse(`${server.url}/v1/agent`, { headers, body })) {
        if (data.type === 'llm_end') break
      }
      await server.kill()
    }
    await using server = await startServer({ dataDir: folder.path })
    const answer = await fetch(`${server.url}/v1/sessions/s/history`, { headers })
    const { messages } = (await answer.json()) as { messages: { role: string; content: string }[] }
    const said = messages.filter(({ role }) => role === 'user').map(({ content }) => content)
    expect(said).toEqual(['turn 1', 'turn 2', 'turn 3', 'turn 4', 'turn 5'])
  }, 60_000)
})

/** A server with a scripted model, and a client that is about to ask it. */
async function talking(dataDir: string) {
  const upstream = await startUpstream()
  const env = { MB_LLM_BASE_URL: upstream.baseUrl, MB_LLM_MODEL: 'fake' }
  const { headers } = await createKey(dataDir)
  const server = await startServer({ dataDir, env })
  const asked = { ...headers, connection: 'close' }
  const body = { text: 'hi', session_id: 's' }
  const opened = () => postSse(`${server.url}/v1/agent`, { headers: asked, body })
  return { upstream, server, headers, opened }
}

describe('a graceful stop', () => {
  test('a graceful stop finishes open turns and writes out buffered rows', async () => {
    using folder = tempFolder()
    const { upstream, server, headers, opened } = await talking(folder.path)
    const gate = Promise.withResolvers<void>()
    upstream.reply({ pieces: ['a', 'b'], hold: { after: 1, until: gate.promise } })
    const stream = await opened()
    const types: unknown[] = []
    let stopped: Promise<number> | null = null
    for await (const { data } of stream) {
      types.push(data.type)
      if (data.type === 'llm_delta' && !stopped) {
        stopped = server.stop()
        await server.printed.until((text) => (text.includes('stopping') ? text : null))
        // A terminal and npm both pass on one and the same Ctrl+C.
        process.kill(server.pid, 'SIGINT')
        process.kill(server.pid, 'SIGTERM')
        gate.resolve()
      }
    }
    expect(types.at(-1)).toBe('llm_end')
    expect(await stopped).toBe(0)
    const lines = server.output().trim().split('\n')
    expect(lines.map((line) => JSON.parse(line).event)).toEqual(['listening', 'stopping'])
    await upstream.stop()

    await using again = await startServer({ dataDir: folder.path })
    const answer = await fetch(`${again.url}/v1/sessions/s/history`, { headers })
    expect(((await answer.json()) as { count: number }).count).toBe(2)
    const logs = await fetch(`${again.url}/v1/logs`, { headers })
    expect(((await logs.json()) as { logs: unknown[] }).logs).toHaveLength(1)
  }, 60_000)

  test('a second signal after a second cuts a graceful stop short', async () => {
    using folder = tempFolder()
    const { upstream, server, opened } = await talking(folder.path)
    upstream.reply({ text: 'never', hold: { after: 0, until: new Promise(() => {}) } })
    const stream = await opened()
    const stopped = server.stop()
    await server.printed.until((text) => (text.includes('stopping') ? text : null))
    const timer = setInterval(() => process.kill(server.pid, 'SIGTERM'), 200)
    expect(await stopped).toBe(143)
    clearInterval(timer)
    await stream.all().catch(() => null)
    expect(stream.events).toEqual([])
    await upstream.stop()
  })
})

describe('standard output', () => {
  test('a closed standard output does not end the server', async () => {
    using folder = tempFolder()
    const child = Bun.spawn([...moonbase(), 'serve'], {
      cwd: ROOT,
      env: environment(folder.path, { MB_LOG_LEVEL: 'debug' }),
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const reader = child.stdout.getReader()
    let text = ''
    let url: string | undefined
    while (url === undefined) {
      const { done, value } = await reader.read()
      if (done) throw new Error(`ended before it listened: ${text}`)
      text += new TextDecoder().decode(value)
      url = /"url":"([^"]+)"/.exec(text)?.[1]
    }
    await reader.cancel()
    // Each request is a line of the log.
    for (let n = 0; n < 3; n++) expect((await fetch(`${url}/healthz`)).status).toBe(200)
    child.kill('SIGTERM')
    expect(await child.exited).toBe(0)
    expect(await new Response(child.stderr).text()).toBe('')
  })
})

describe('a fresh install', () => {
  test('a fresh install answers at once with tools, and says what it lacks', async () => {
    using folder = tempFolder()
    const { headers } = await createKey(folder.path)
    await using server = await startServer({ dataDir: folder.path })
    const body = { text: '12*34 等于多少？' }
    const events = await (await postSse(`${server.url}/v1/agent`, { headers, body })).all()
    const data = events.map((event) => event.data)
    expect(data).toContainEqual({ type: 'tool_result', name: 'calculator', ok: true })
    expect(String(data.at(-1)?.reply)).toContain('408')
    const story = { text: '讲个故事吧' }
    const refused = await (await postSse(`${server.url}/v1/agent`, { headers, body: story })).all()
    expect(String(refused.at(-1)?.data.reply)).toContain('MB_LLM_BASE_URL')
  })
})
