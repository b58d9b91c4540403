import { describe, expect, test } from 'bun:test'
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { startApp, type TestApp } from '../support/app.ts'
import { openBoxFile } from '../support/box-file.ts'
import { tempFolder } from '../support/temp.ts'

const CRASHING = new URL('../support/crashing-writer.ts', import.meta.url).href
const JSON_TYPE = { 'content-type': 'application/json' }

const post = (app: TestApp, headers: Record<string, string>, name: string) =>
  fetch(`${app.url}/console/personas`, {
    method: 'POST',
    headers: { ...headers, ...JSON_TYPE, origin: app.url },
    body: JSON.stringify({ name, prompt: 'p' }),
  })

async function names(app: TestApp, headers: Record<string, string>): Promise<string[]> {
  const answer = await fetch(`${app.url}/console/personas`, { headers })
  const { personas } = (await answer.json()) as { personas: { name: string }[] }
  return personas.map(({ name }) => name).sort()
}

const health = (app: TestApp) => fetch(`${app.url}/healthz`)

async function untilHealthy(app: TestApp): Promise<void> {
  while ((await health(app)).status !== 200);
}

describe('when the writer thread dies', () => {
  test('writes fail and /healthz is 503 until a dead writer thread is replaced', async () => {
    await using app = await startApp({ writerUrl: CRASHING })
    const { headers } = await app.person()
    expect((await post(app, headers, 'before')).status).toBe(201)
    const hold = join(app.dataDir, 'moonbase.db.hold')
    await Bun.write(hold, '')
    for (const name of ['die', 'while none runs']) {
      const refused = await post(app, headers, name)
      expect(refused.status).toBe(500)
      expect(refused.headers.get('x-error-code')).toBe('internal')
      expect(await refused.text()).toBe('服务器内部错误')
    }
    const sick = await health(app)
    expect(sick.status).toBe(503)
    expect(sick.headers.get('x-error-code')).toBe('database_stopped')
    expect(await names(app, headers)).toEqual(['before'])
    const status = (await (await fetch(`${app.url}/status?format=json`)).json()) as object
    expect(status).toMatchObject({ status: 'down' })
    rmSync(hold)
    await untilHealthy(app)
    expect((await post(app, headers, 'after')).status).toBe(201)
    expect(await names(app, headers)).toEqual(['after', 'before'])
  })

  test('writes are answered when the writer thread dies, acknowledged ones stored', async () => {
    await using app = await startApp({ writerUrl: CRASHING })
    const { headers } = await app.person()
    const sent = Array.from({ length: 60 }, (_, i) => (i % 20 === 10 ? 'die' : `name-${i}`))
    const answers = await Promise.all(
      sent.map(async (name) => ({ name, status: (await post(app, headers, name)).status })),
    )
    expect(answers.filter(({ name }) => name === 'die').map(({ status }) => status)).toEqual([
      500, 500, 500,
    ])
    await untilHealthy(app)
    expect((await post(app, headers, 'last')).status).toBe(201)
    const acknowledged = answers.filter(({ status }) => status === 201).map(({ name }) => name)
    const stored = await names(app, headers)
    expect(stored).toEqual(expect.arrayContaining([...acknowledged, 'last']))
    expect(stored).not.toContain('die')
  })

  test('the server still stops after its writer thread died and no other can start', async () => {
    const app = await startApp({ writerUrl: CRASHING })
    const { headers } = await app.person()
    await Bun.write(join(app.dataDir, 'moonbase.db.hold'), '')
    expect((await post(app, headers, 'die')).status).toBe(500)
    expect((await health(app)).status).toBe(503)
    await app[Symbol.asyncDispose]()
    await expect(health(app)).rejects.toThrow()
  })
})

test('a damaged page keeps /status down, even when other pages are written', async () => {
  using folder = tempFolder()
  {
    await using app = await startApp({ dataDir: folder.path })
    const { headers } = await app.person()
    expect((await post(app, headers, 'x'.repeat(64))).status).toBe(201)
  }
  damage(folder.file('moonbase.db'), 'session_by_activity')
  await using app = await startApp({ dataDir: folder.path })
  const key = await app.key()
  expect((await fetch(`${app.url}/v1/sessions`, { headers: key.headers })).status).toBe(500)
  const { headers } = await app.person()
  expect((await post(app, headers, 'still written')).status).toBe(201)
  expect(await names(app, headers)).toContain('still written')
  const status = (await (await fetch(`${app.url}/status?format=json`)).json()) as object
  expect(status).toMatchObject({
    status: 'down',
    checks: expect.arrayContaining([
      expect.objectContaining({ name: 'database', state: 'down', class: 'disk_error' }),
    ]),
  })
})

/** Overwrites the first page of a table or an index, as a failing disk does. */
function damage(path: string, name: string): void {
  const db = openBoxFile(path)
  const page = db.query('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(name)
  const size = db.query('PRAGMA page_size').get() as { page_size: number }
  db.run('PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
  const file = openSync(path, 'r+')
  const { rootpage } = page as { rootpage: number }
  const bytes = new Uint8Array(size.page_size).fill(0xee)
  writeSync(file, bytes, 0, bytes.length, (rootpage - 1) * size.page_size)
  closeSync(file)
}
