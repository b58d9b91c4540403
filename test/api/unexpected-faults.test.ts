import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { ImportResult } from '../../src/features/transfer/model.ts'
import { type Call, SURFACES, surfaceOf } from '../support/api.ts'
import { ON_POSTGRES, startApp, type TestApp } from '../support/app.ts'
import { postSse } from '../support/sse.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app[Symbol.asyncDispose]())

/** Writing to a table fails, in words that nobody outside may read, until this is disposed of. */
async function breaking(table: string): Promise<AsyncDisposable> {
  const run = (sql: string) => app.db.run({ sql, args: [] })
  const words = `SECRET of ${table}`
  if (ON_POSTGRES) {
    await run(`CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql
      AS $$ BEGIN RAISE EXCEPTION '${words}'; END $$`)
    await run(`CREATE TRIGGER broken BEFORE INSERT ON ${table} EXECUTE FUNCTION broken()`)
    return { [Symbol.asyncDispose]: async () => void (await run('DROP FUNCTION broken CASCADE')) }
  }
  const fail = `RAISE(ABORT, '${words}')`
  await run(`CREATE TRIGGER broken BEFORE INSERT ON ${table} BEGIN SELECT ${fail}; END`)
  return { [Symbol.asyncDispose]: async () => void (await run('DROP TRIGGER broken')) }
}

describe.each(SURFACES)('what nobody foresaw on %s', (surface) => {
  const requests: [name: string, table: string, call: (call: Call) => ReturnType<Call>][] = [
    ['an app', 'app', (call) => call('POST', '/apps', { name: 'n' })],
    ['a device', 'device', (call) => call('POST', '/devices', { name: 'n' })],
    ['a document', 'kb_doc', (call) => call('POST', '/kb/docs', { title: 't', text: 'x' })],
    ['a page', 'kb_source', (call) => call('POST', '/kb/urls', { url: 'https://example.com/' })],
  ]
  for (const [name, table, ask] of requests) {
    test(`an unexpected error with ${name} is 500 in a sentence and whole in the log`, async () => {
      const call = await surfaceOf(app, surface, `${table}@example.com`)
      await using _ = await breaking(table)
      const answer = await ask(call)
      expect([answer.status, answer.text]).toEqual([500, '服务器内部错误'])
      expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
      const id = answer.headers.get('x-request-id')
      const log = await app.printed.until((text) => (text.includes(`"id":"${id}"`) ? text : null))
      const line = log.split('\n').find((text) => text.includes(`"id":"${id}"`)) ?? ''
      expect(JSON.parse(line)).toMatchObject({ event: 'request failed', method: 'POST' })
      expect(line).toContain(`SECRET of ${table}`)
    })
  }

  test('an unexpected error in an import names the item, and the others come in', async () => {
    const call = await surfaceOf(app, surface, 'import@example.com')
    await using _ = await breaking('app')
    const config = {
      format_version: 1,
      personas: [{ name: `p${surface}`, prompt: 'p' }],
      apps: [{ name: 'a' }],
      settings: { model: null, thinking: false, temperature: null },
    }
    const answer = await call<ImportResult>('POST', '/import', { mode: 'merge', config })
    expect(answer.status).toBe(200)
    expect(answer.json()).toMatchObject({ imported: { personas: 1, apps: 0 }, skipped: [] })
    expect(answer.json().errors).toEqual(['应用「a」写入失败'])
    expect(answer.text).not.toContain('SECRET')
  })
})

test('the request log has the class internal for an unexpected error', async () => {
  const key = await app.key('logged@example.com')
  const call = await surfaceOf(app, '/v1', 'logged@example.com')
  {
    await using _ = await breaking('kb_doc')
    expect((await call('POST', '/kb/docs', { title: 't', text: 'x' })).status).toBe(500)
  }
  await app.flush()
  const row = await app.db.get({
    sql: 'SELECT status, error_class FROM request_log WHERE tenant_id = ?',
    args: [key.tenantId],
  })
  expect(row).toEqual({ status: 500, error_class: 'internal' })
})

test('a turn that cannot be prepared ends with an error event and a log line', async () => {
  const { headers } = await app.key('recall@example.com')
  const rename = (from: string, to: string) =>
    app.db.run({ sql: `ALTER TABLE ${from} RENAME TO ${to}`, args: [] })
  await rename('turn', 'hidden')
  const body = { text: '你好', kb: false }
  const answer = await postSse(`${app.url}/v1/agent`, { headers, body })
  const events = await answer.all()
  await rename('hidden', 'turn')
  expect(events.map(({ data }) => data)).toEqual([
    { type: 'error', message: '服务器内部错误，本轮未保存，请重试', code: 'turn_failed' },
  ])
  expect(app.log()).toMatch(/no such table: turn|relation .*turn.* does not exist/)
})

test('a turn that cannot be stored ends with an error and is not in the history', async () => {
  const { headers } = await app.key('turn@example.com')
  const ask = async () => {
    const body = { text: '你好', session_id: 's', kb: false }
    return (await (await postSse(`${app.url}/v1/agent`, { headers, body })).all()).at(-1)?.data
  }
  {
    await using _ = await breaking('turn')
    expect(await ask()).toEqual({
      type: 'error',
      message: '服务器内部错误，本轮未保存，请重试',
      code: 'turn_failed',
    })
  }
  expect(await ask()).toMatchObject({ type: 'llm_end' })
  const history = await fetch(`${app.url}/v1/sessions/s/history`, { headers })
  expect(await history.json()).toMatchObject({ count: 2 })
})
