import { describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SOURCES } from '../support/command.ts'
import { createKey } from '../support/key.ts'
import { canMount, mounted } from '../support/mount-namespace.ts'
import { run, sentence } from '../support/run.ts'
import { startServer } from '../support/server.ts'
import { postSse } from '../support/sse.ts'
import { tempFolder } from '../support/temp.ts'

describe('a data folder', () => {
  test('a new data folder and all files in it belong to their owner alone', async () => {
    using folder = tempFolder()
    const [served, keyed, restored] = [folder.file('s'), folder.file('k'), folder.file('r')]
    await (await startServer({ dataDir: served })).stop()
    await createKey(keyed)
    expect((await run(['backup', folder.file('b.db')], keyed)).code).toBe(0)
    expect((await run(['restore', folder.file('b.db')], restored)).code).toBe(0)
    for (const made of [served, keyed, restored]) {
      const inside = readdirSync(made, { recursive: true, encoding: 'utf8' })
      expect(inside).toContain('moonbase.db')
      const open = ['.', ...inside].filter((name) => statSync(join(made, name)).mode & 0o077)
      expect(open).toEqual([])
    }
  }, 60_000)

  test('a data folder belongs to one server at a time, also after a kill', async () => {
    using folder = tempFolder()
    const first = await startServer({ dataDir: folder.path })
    expect(sentence(await run(['serve'], folder.path))).toContain('another Moonbase server runs')
    expect((await fetch(`${first.url}/healthz`)).status).toBe(200)
    await first.kill()
    await using second = await startServer({ dataDir: folder.path })
    expect((await fetch(`${second.url}/healthz`)).status).toBe(200)
  }, 60_000)

  test('a refused start leaves nothing in an empty folder, and data in another', async () => {
    using folder = tempFolder()
    const [fresh, used] = [folder.file('fresh'), folder.file('used')]
    const wrong = { MB_EMBED_MODEL_DIR: folder.file('missing') }
    expect(sentence(await run(['serve'], fresh, wrong))).toContain('MB_EMBED_MODEL_DIR')
    expect(existsSync(fresh)).toBe(false)
    mkdirSync(fresh)
    sentence(await run(['serve'], fresh, wrong))
    expect(readdirSync(fresh)).toEqual([])
    await createKey(used)
    sentence(await run(['serve'], used, wrong))
    expect(readdirSync(used)).toContain('moonbase.db')
  }, 60_000)

  test('a data folder that is a file, or below one, is refused in one sentence', async () => {
    using folder = tempFolder()
    writeFileSync(folder.file('file'), '')
    for (const dataDir of [folder.file('file'), folder.file('file', 'data')]) {
      expect(sentence(await run(['serve'], dataDir))).toContain('MB_DATA_DIR')
      expect(sentence(await run(['key', 'create'], dataDir))).toContain('MB_DATA_DIR')
      expect(sentence(await run(['backup', folder.file('b')], dataDir))).toContain('MB_DATA_DIR')
      const { out, err, code } = await run(['doctor'], dataDir)
      expect({ err, code }).toEqual({ err: '', code: 1 })
      expect(out).toContain('MB_DATA_DIR')
    }
  }, 60_000)

  test('a damaged database is refused in one sentence, and not written to', async () => {
    using folder = tempFolder()
    await createKey(folder.path)
    for (const suffix of ['-wal', '-shm'])
      rmSync(folder.file(`moonbase.db${suffix}`), { force: true })
    const bytes = 'not a database '.repeat(1000)
    writeFileSync(folder.file('moonbase.db'), bytes)
    expect(sentence(await run(['serve'], folder.path))).toContain('moonbase restore')
    expect(await Bun.file(folder.file('moonbase.db')).text()).toBe(bytes)
    const { code, out } = await run(['doctor', '--json'], folder.path)
    expect(code).toBe(1)
    const { checks } = JSON.parse(out) as { checks: { name: string; level: string }[] }
    expect(checks).toContainEqual(expect.objectContaining({ name: 'Database', level: 'fail' }))
  }, 60_000)

  test.skipIf(!canMount)(
    'a data folder that cannot be written is refused in one sentence',
    async () => {
      using folder = tempFolder()
      const readOnly = mounted('ro', folder.path)
      for (const args of [['serve'], ['key', 'create']]) {
        const told = sentence(await run(args, folder.path, {}, readOnly))
        expect(told).toContain('MB_DATA_DIR')
        expect(told).toContain('cannot be written')
      }
      expect((await run(['doctor'], folder.path, {}, readOnly)).code).toBe(1)
    },
    60_000,
  )

  test.skipIf(!canMount)(
    'a server on a full disk keeps its rows and says what is wrong',
    async () => {
      using folder = tempFolder()
      // The parts that an executable unpacks have no room there.
      const create = `${SOURCES.join(' ')} key create --json --rate-limit 0`
      const makeKey = `${create} > "${folder.file('key.json')}"`
      const command = [...mounted('size=6m', folder.path, makeKey), ...SOURCES]
      await using server = await startServer({ dataDir: folder.path, command })
      const inside = `/proc/${server.pid}/root${folder.path}`
      const { key } = JSON.parse(await Bun.file(`${inside}/key.json`).text()) as { key: string }
      const headers = { authorization: `Bearer ${key}` }
      const say = async (text: string) => {
        const body = { text, session_id: 's', kb: false }
        return (await postSse(`${server.url}/v1/agent`, { headers, body })).all()
      }
      expect((await say('kept')).at(-1)?.data.type).toBe('llm_end')

      let filled = 0
      try {
        for (;;) writeFileSync(`${inside}/filler-${filled++}`, Buffer.alloc(64 * 1024))
      } catch (error) {
        expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC')
      }
      const history = async () => {
        const answer = await fetch(`${server.url}/v1/sessions/s/history`, { headers })
        return ((await answer.json()) as { count: number }).count
      }
      let acknowledged = 1
      let refused = 0
      for (let turn = 0; turn < 400 && refused === 0; turn++) {
        const last = (await say('x'.repeat(8_000))).at(-1)?.data
        if (last?.type === 'llm_end') acknowledged++
        else refused++
      }
      expect(refused).toBe(1)
      expect((await say('x'.repeat(8_000))).at(-1)?.data.message).toContain('空间已满')
      await server.printed.until((text) => (text.includes('full') ? text : null))
      expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
      expect(await history()).toBeGreaterThan(0)
      const status = await fetch(`${server.url}/status?format=json`)
      expect(((await status.json()) as { checks: unknown[] }).checks).toContainEqual(
        expect.objectContaining({ name: 'database', state: 'down', class: 'disk_full' }),
      )
      const beside = ['nsenter', '-t', String(server.pid), '-U', '-m', '--preserve-credentials']
      expect((await run(['doctor'], folder.path, {}, beside)).out).toContain('is on a full disk')
      const refusal = await run(['key', 'create', '--email', 'b@b.cc'], folder.path, {}, beside)
      expect(sentence(refusal)).toContain('is on a full disk')

      for (const name of readdirSync(inside)) {
        if (name.startsWith('filler-')) rmSync(`${inside}/${name}`)
      }
      expect((await say('again')).at(-1)?.data.type).toBe('llm_end')
      const sessions = (await (await fetch(`${server.url}/v1/sessions`, { headers })).json()) as {
        sessions: { turn_count: number }[]
      }
      expect(sessions.sessions[0]?.turn_count).toBe(acknowledged + 1)
    },
    60_000,
  )
})

describe('doctor', () => {
  const checks = async (dataDir: string, env: Record<string, string> = {}) => {
    const { out, code } = await run(['doctor', '--json'], dataDir, env)
    const found = (JSON.parse(out) as { checks: { name: string; level: string; text: string }[] })
      .checks
    return { code, out, level: Object.fromEntries(found.map(({ name, level }) => [name, level])) }
  }

  test('the doctor finds nothing wrong with a fresh machine, and leaves no file', async () => {
    using folder = tempFolder()
    const { code, level } = await checks(folder.file('data'))
    expect(code).toBe(0)
    expect(Object.values(level)).not.toContain('fail')
    expect(level.Embedding).toBe('ok')
    // Besides the parts that an executable unpacks.
    const left = process.env.MOONBASE_BIN ? ['data', 'data/runtime'] : []
    const found = readdirSync(folder.path, { recursive: true }).map(String)
    expect(found.filter((path) => !path.startsWith('data/runtime/')).sort()).toEqual(left)
  }, 60_000)

  test('the doctor finds nothing wrong with a running server, without disturbing it', async () => {
    using folder = tempFolder()
    await using server = await startServer({ dataDir: folder.path })
    const { code, level } = await checks(folder.path, { MB_PORT: new URL(server.url).port })
    expect(code).toBe(0)
    expect(level.Database).toBe('ok')
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
  }, 60_000)

  test('the doctor names what is wrong, and no secret', async () => {
    using folder = tempFolder()
    mkdirSync(folder.file('data'))
    writeFileSync(folder.file('data', 'secrets.json'), '{"session_secret":"SECRET')
    const { code, out, level } = await checks(folder.file('data'), {
      MB_LLM_BASE_URL: 'http://user:SECRET@127.0.0.1:9/v1',
      MB_LLM_API_KEY: 'sk-SECRET',
      MB_TTS_BASE_URL: 'tcp://127.0.0.1:9',
      MB_EMBED_MODEL_DIR: folder.file('nowhere'),
      MB_TLS_CERT: folder.file('no.pem'),
      MB_TLS_KEY: folder.file('no.key'),
      MB_SMTP_URL: 'smtp://user:SECRET@127.0.0.1:9',
      MB_HOST: '203.0.113.7',
    })
    expect(code).toBe(1)
    expect(out).not.toContain('SECRET')
    expect(level).toMatchObject({
      Secrets: 'fail',
      'Language model': 'fail',
      'Speech synthesis': 'fail',
      Embedding: 'fail',
      TLS: 'fail',
      Mail: 'fail',
      Address: 'fail',
      'Native parts': 'ok',
    })
  }, 60_000)

  test('the doctor reports a wrong setting', async () => {
    using folder = tempFolder()
    const { code, out } = await checks(folder.path, { MB_PORT: 'http' })
    expect(code).toBe(1)
    expect(out).toContain('MB_PORT')
  })
})

test('every command has a help text', async () => {
  using folder = tempFolder()
  for (const command of ['serve', 'key', 'admin', 'backup', 'restore', 'doctor']) {
    const { out, code } = await run([command, '--help'], folder.path)
    expect(code).toBe(0)
    expect(out).toStartWith(`Usage: moonbase ${command}`)
  }
  for (const args of [['backup', 'a', 'b'], ['restore'], ['doctor', 'x']]) {
    expect(sentence(await run(args, folder.path))).toContain('usage: moonbase')
  }
}, 60_000)
