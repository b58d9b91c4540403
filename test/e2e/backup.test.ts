import { describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { openBoxFile } from '../support/box-file.ts'
import { createKey } from '../support/key.ts'
import { run, sentence } from '../support/run.ts'
import { type Server, startServer } from '../support/server.ts'
import { postSse } from '../support/sse.ts'
import { tempFolder } from '../support/temp.ts'

type Headers = Readonly<Record<string, string>>

async function say(server: Server, headers: Headers, text: string, session = 's') {
  const body = { text, session_id: session, kb: false }
  const events = await (await postSse(`${server.url}/v1/agent`, { headers, body })).all()
  if (events.at(-1)?.data.type !== 'llm_end') throw new Error('the turn failed')
}

async function said(server: Server, headers: Headers, session = 's'): Promise<string[]> {
  const answer = await fetch(`${server.url}/v1/sessions/${session}/history`, { headers })
  const { messages } = (await answer.json()) as { messages: { role: string; content: string }[] }
  return messages.filter(({ role }) => role === 'user').map(({ content }) => content)
}

const put = (url: string, headers: Headers, body: unknown, method = 'PUT') =>
  fetch(url, {
    method,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

describe('a backup', () => {
  test('a backup taken during writes holds one moment, and every secret', async () => {
    using folder = tempFolder()
    using other = tempFolder()
    const file = folder.file('b.db')
    await using server = await startServer({ dataDir: folder.file('data') })
    const { headers: own } = await createKey(folder.file('data'))
    await say(server, own, 'before')
    const provider = { base_url: 'https://models.example/v1', api_key: 'sk-tenant-own-1234' }
    expect((await put(`${server.url}/v1/provider`, own, provider)).status).toBe(200)
    const doc = { title: 'Moon', text: 'The crater Shackleton lies at the south pole.' }
    expect((await put(`${server.url}/v1/kb/docs`, own, doc, 'POST')).status).toBe(201)

    let writing = true
    const { headers: busy } = await createKey(folder.file('data'), { email: 'b@example.com' })
    const load = Promise.all(
      ['x', 'y', 'z'].map(async (session) => {
        let turns = 0
        while (writing) await say(server, busy, `turn ${++turns}`, session)
        return turns
      }),
    )
    const made = await run(['backup', file], folder.file('data'))
    writing = false
    const turns = await load
    expect(made).toMatchObject({ code: 0, err: '' })
    expect(made.out).not.toContain('sk-')
    expect(statSync(file).mode & 0o777).toBe(0o600)

    expect(await run(['restore', file], other.file('data'))).toMatchObject({ code: 0 })
    await using restored = await startServer({ dataDir: other.file('data') })
    expect(await said(restored, own)).toEqual(['before'])
    const config = await (await fetch(`${restored.url}/v1/provider`, { headers: own })).json()
    expect(config).toMatchObject({ configured: true, key_tail: '1234' })
    const found = await put(`${restored.url}/v1/kb/search`, own, { q: 'south pole' }, 'POST')
    const { results } = (await found.json()) as { results: { title: string }[] }
    expect(results[0]?.title).toBe('Moon')
    for (const [index, session] of ['x', 'y', 'z'].entries()) {
      const kept = await said(restored, busy, session)
      expect(kept.length).toBeLessThanOrEqual(turns[index] ?? 0)
      const first = Number(kept[0]?.slice('turn '.length))
      expect(kept).toEqual(kept.map((_, at) => `turn ${first + at}`))
    }
  }, 60_000)

  test('a backup removes leftovers of killed backups and restores, and nothing else', async () => {
    using folder = tempFolder()
    using drawer = tempFolder()
    const draft = (name: string) => `.moonbase-backup-${name.repeat(12)}.tmp`
    const [killed, journal, running] = [draft('a'), `${draft('a')}-journal`, draft('b')]
    const others = ['.moonbase-backup-old.tmp', 'moonbase-backup.db']
    for (const name of [killed, journal, running, ...others]) writeFileSync(drawer.file(name), 'x')
    const earlier = Date.now() / 1000 - 2 * 3600
    for (const name of [killed, journal, ...others]) utimesSync(drawer.file(name), earlier, earlier)
    await createKey(folder.path)
    writeFileSync(folder.file('moonbase.db.restoring'), 'x')

    expect(await run(['backup', drawer.file('b.db')], folder.path)).toMatchObject({ code: 0 })
    expect(readdirSync(drawer.path).sort()).toEqual([running, ...others, 'b.db'].sort())
    await using _server = await startServer({ dataDir: folder.path })
    expect(readdirSync(folder.path)).not.toContain('moonbase.db.restoring')
  }, 60_000)

  test('a backup appears whole or not at all, and replaces only a backup', async () => {
    using folder = tempFolder()
    const data = folder.file('data')
    const empty = sentence(await run(['backup', folder.file('b.db')], data))
    expect(empty).toContain('nothing to back up')
    expect(existsSync(folder.file('b.db'))).toBe(false)

    await createKey(data)
    await Bun.write(folder.file('letter.txt'), 'dear reader')
    const refused = [
      folder.file('letter.txt'),
      `${data}/moonbase.db`,
      `${data}/moonbase.lock`,
      data,
    ]
    for (const target of refused) sentence(await run(['backup', target], data))
    expect(await Bun.file(folder.file('letter.txt')).text()).toBe('dear reader')
    sentence(await run(['backup', folder.file('no', 'such', 'b.db')], data))

    const file = folder.file('b.db')
    expect(await run(['backup', file], data)).toMatchObject({ code: 0 })
    expect(await run(['backup', file], data)).toMatchObject({ code: 0 })
    expect(readdirSync(folder.path).sort()).toEqual(['b.db', 'data', 'letter.txt'])
  }, 60_000)
})

describe('restore', () => {
  test('a restore refuses to overwrite, and with --force keeps the old data', async () => {
    using folder = tempFolder()
    const data = folder.file('data')
    const file = folder.file('b.db')
    const { headers: first } = await createKey(data)
    await (await startServer({ dataDir: data })).stop()
    await run(['backup', file], data)
    const { headers: second } = await createKey(data)

    expect(sentence(await run(['restore', file], data))).toContain('--force')
    const forced = await run(['restore', file, '--force'], data)
    expect(forced).toMatchObject({ code: 0, err: '' })
    const kept = readdirSync(`${data}/backups`).sort()
    expect(kept.map((name) => name.replace(/\d{8}T\d{6}Z/, ''))).toEqual([
      'before-restore-.db',
      'before-restore-.secrets.json',
    ])
    await using server = await startServer({ dataDir: data })
    const status = async (headers: Headers) =>
      (await fetch(`${server.url}/v1/sessions`, { headers })).status
    expect([await status(first), await status(second)]).toEqual([200, 401])
  }, 60_000)

  test('a restore is refused while a server runs on the folder', async () => {
    using folder = tempFolder()
    const data = folder.file('data')
    await createKey(data)
    await run(['backup', folder.file('b.db')], data)
    await using server = await startServer({ dataDir: data })
    expect(sentence(await run(['restore', folder.file('b.db'), '--force'], data))).toContain('runs')
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
  }, 60_000)

  test('a restore ignores the log of a server that was killed', async () => {
    using folder = tempFolder()
    const data = folder.file('data')
    const { headers } = await createKey(data)
    await run(['backup', folder.file('b.db')], data)
    const killed = await startServer({ dataDir: data })
    await say(killed, headers, 'after the backup')
    await killed.kill()
    expect(statSync(`${data}/moonbase.db-wal`).size).toBeGreaterThan(0)
    await run(['restore', folder.file('b.db'), '--force'], data)
    await using server = await startServer({ dataDir: data })
    expect(await said(server, headers)).toEqual([])
  }, 60_000)

  test('a restore refuses a damaged, truncated, newer or foreign file untouched', async () => {
    using folder = tempFolder()
    const data = folder.file('data')
    await createKey(data)
    const file = folder.file('b.db')
    await run(['backup', file], data)
    const good = await Bun.file(file).bytes()
    const at = Math.floor(good.length / 2)
    const damaged = good.slice()
    damaged.fill(0xff, at, at + 8192)
    const files: Record<string, Uint8Array | string> = {
      damaged,
      truncated: good.slice(0, at),
      empty: '',
      text: 'no database'.repeat(1000),
      plain: await Bun.file(`${data}/moonbase.db`).bytes(),
    }
    for (const [name, bytes] of Object.entries(files)) {
      await Bun.write(folder.file(name), bytes)
      sentence(await run(['restore', folder.file(name)], folder.file('fresh')))
      expect(existsSync(folder.file('fresh', 'moonbase.db'))).toBe(false)
    }
    sentence(await run(['restore', folder.file('missing')], folder.file('fresh')))
    sentence(await run(['restore', folder.path], folder.file('fresh')))
    expect(existsSync(folder.file('fresh'))).toBe(false)
    mkdirSync(folder.file('nothing'))
    sentence(await run(['restore', folder.file('damaged')], folder.file('nothing')))
    expect(readdirSync(folder.file('nothing'))).toEqual([])
  }, 60_000)

  test.each([
    ['a trigger', 'CREATE TRIGGER t AFTER UPDATE ON api_key BEGIN SELECT 1; END'],
    ['a table more', 'CREATE TABLE extra (x TEXT)'],
    ['a table less', 'DROP TABLE turn'],
    ['an index less', 'DROP INDEX session_by_activity'],
    ['a column more', 'ALTER TABLE persona ADD COLUMN extra TEXT'],
    ['a view in place of a table', 'DROP TABLE usage_day; CREATE VIEW usage_day AS SELECT 1'],
    ['no list of migrations', 'DELETE FROM migration'],
    ['a gap in the migrations', "DELETE FROM migration WHERE name = '0001-tables'"],
  ])(
    'a backup with %s is not restored',
    async (_, change) => {
      using folder = tempFolder()
      const data = folder.file('data')
      await createKey(data)
      const file = folder.file('b.db')
      await run(['backup', file], data)
      alter(file, change)
      const told = sentence(await run(['restore', file], folder.file('fresh')))
      expect(told).toContain('schema differs')
      expect(existsSync(folder.file('fresh', 'moonbase.db'))).toBe(false)
    },
    60_000,
  )

  test('a restore prints no control characters of a backup', async () => {
    using folder = tempFolder()
    const data = folder.file('data')
    await createKey(data)
    const file = folder.file('b.db')
    await run(['backup', file], data)
    alter(file, "UPDATE moonbase_backup SET content = char(27) || '[2J' WHERE name = 'version'")
    const { out, code } = await run(['restore', file], folder.file('fresh'))
    expect(code).toBe(0)
    expect(out).toContain('by version ?[2J')
    expect(out).not.toMatch(/(?!\n)\p{Cc}/u)
  }, 60_000)
})

function alter(path: string, sql: string): void {
  const db = openBoxFile(path)
  try {
    db.run(sql)
  } finally {
    db.close()
  }
}
