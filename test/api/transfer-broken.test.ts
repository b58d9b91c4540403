import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { caller } from '../support/api.ts'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'
import { carrier, file, twoParts, typed } from '../support/carried.ts'
import { oneAxisEmbedder, sourcesClient } from '../support/sources.ts'

let app: TestApp
let tenants = 0
beforeAll(async () => {
  app = await startApp({ embedder: oneAxisEmbedder().embedder })
})
afterEach(() => app.jobs.idle())
afterAll(() => app[Symbol.asyncDispose]())

const { docs } = sourcesClient(() => app)
const { exported, load, send, slowly } = carrier(() => app)
const freshKey = () => app.key(`broken${++tenants}@example.com`)
const titles = async (key: TestKey): Promise<string[]> =>
  (await docs(key)).map(({ title }: { title: string }) => title).toSorted()

/** Resolves when the tenant has so many documents. */
async function until(key: TestKey, count: number) {
  while ((await docs(key)).length < count) await Bun.sleep(5)
}

const BEGIN = '{"format_version":1,"personas":[{"name":"客服","prompt":"你是客服"}],"documents":['

describe('a file that breaks off', () => {
  const broken = (...documents: object[]) =>
    BEGIN + documents.map((doc) => JSON.stringify(doc)).join()

  test.each([
    ['at the end of the file', ''],
    ['in a text', ',{"title":"丙","te'],
    ['in what is no JSON', ',{"title"丙}]}'],
    ['in bytes that are no text', new Uint8Array([0x2c, 0x22, 0xff, 0xfe, 0x22])],
  ])('what came before it stays, and the report says so: %s', async (_name, rest) => {
    const key = await freshKey()
    const whole = [typed('甲'), ...twoParts('s', '册')] as const
    const answer = await send(key, new Blob([broken(...whole), rest]))
    expect([answer.status, JSON.parse(answer.text)]).toEqual([
      200,
      {
        imported: {
          personas: 1,
          apps: 0,
          settings: false,
          mcp_servers: 0,
          prompts: 0,
          collections: 0,
          schedules: 0,
          webhooks: 0,
          documents: 1,
        },
        complete: false,
        skipped: [],
        errors: ['来源「册」不完整，未导入', '文件在第 3 个文档之后中断或损坏，其后的内容未导入'],
      },
    ])
    expect(await titles(key)).toEqual(['甲'])
    const again = await load(key, file(...whole, typed('丙')))
    expect([again.imported.documents, again.skipped]).toEqual([3, ['文档「甲」已存在，已跳过']])
  })

  test('an import whose connection breaks keeps what arrived before', async () => {
    const key = await freshKey()
    const upload = await slowly(key, `${broken(typed('甲'), ...twoParts('s', '册'))},`)
    await until(key, 1)
    upload.socket.destroy()
    await upload.answer
    // The next import is let in once that one has ended.
    let again = await send(key, JSON.stringify(file(...twoParts('s', '册'))))
    while (again.status === 429)
      again = await send(key, JSON.stringify(file(...twoParts('s', '册'))))
    expect(JSON.parse(again.text).imported.documents).toBe(2)
    expect(await titles(key)).toEqual(['册 (1/2)', '册 (2/2)', '甲'])
  })

  test('nothing of a file that ends before its first document is imported', async () => {
    const key = await freshKey()
    for (const [body, code] of [
      ['', 'invalid_json'],
      ['[]', 'format_version'],
      ['{"format_version":1,"personas":[{"name":"客服"', 'invalid_json'],
      ['{"format_version":2,"documents":[{"title":"a","text":"b"}]}', 'format_version'],
      ['{"documents":[{"title":"a","text":"b"}],"format_version":1}', 'format_version'],
      [`{"format_version":1,"documents":[${'['.repeat(100_000)}`, 'invalid_json'],
      [`{"format_version":1,"personas":[{"name":"${'a'.repeat(9 * 1024 * 1024)}`, 'invalid_json'],
      [`{"format_version":1,"apps":[[${'0,'.repeat(400_000)}`, 'invalid_json'],
    ] as const) {
      const answer = await send(key, body)
      expect([answer.status, answer.code]).toEqual([400, code])
    }
    expect((await exported(key)).personas).toEqual([])
    expect(await docs(key)).toEqual([])
    expect(app.budget.used).toBe(0)
  })
})

describe('a file of what are no documents', () => {
  const refused = (count: number) => Array.from({ length: count }, () => '{}').join()
  const BEGIN_ONLY = '{"format_version":1,"documents":['

  test('an import ends after a thousand refused documents, and says where', async () => {
    const key = await freshKey()
    const body = `${BEGIN_ONLY}${JSON.stringify(typed('甲'))},${refused(20_000)}]}`
    const answer = await send(key, body)
    const { complete, errors, imported } = JSON.parse(answer.text)
    expect([answer.status, complete, imported.documents]).toEqual([200, false, 1])
    expect(errors.length).toBe(1_001)
    expect(errors.at(-1)).toBe(
      '已有 1000 个文档不符合格式，导入在第 1001 个文档处停止，其后的内容未导入；请检查文件后重新导入',
    )
    expect((await load(key, file(typed('乙')))).imported.documents).toBe(1)
    expect(await titles(key)).toEqual(['乙', '甲'])
    expect(app.budget.used).toBe(0)
  })

  test('999 refused documents do not keep the last one from being imported', async () => {
    const key = await freshKey()
    const answer = await send(key, `${BEGIN_ONLY}${refused(999)},${JSON.stringify(typed('甲'))}]}`)
    const { complete, imported } = JSON.parse(answer.text)
    expect([complete, imported.documents]).toEqual([true, 1])
  })

  test('the parts of a source before a thousand refused documents are not imported', async () => {
    const key = await freshKey()
    const [first] = twoParts('s', '册')
    const part = JSON.stringify({ source: { id: 's' } })
    const rest = Array.from({ length: 2_000 }, () => part).join()
    const answer = await send(key, `${BEGIN_ONLY}${JSON.stringify(first)},${rest}]}`)
    expect(JSON.parse(answer.text)).toMatchObject({ complete: false, imported: { documents: 0 } })
    expect(await titles(key)).toEqual([])
  })
})

describe('while a file arrives', () => {
  test('while a file arrives, another one of its tenant alone is refused', async () => {
    const [key, other] = [await freshKey(), await freshKey()]
    const upload = await slowly(key, `${BEGIN}${JSON.stringify(typed('甲'))},`)
    await until(key, 1)
    const second = await send(key, JSON.stringify(file(typed('乙'))))
    expect([second.status, second.code]).toEqual([429, 'import_running'])
    expect((await load(other, file(typed('乙')))).imported.documents).toBe(1)
    upload.more(`${JSON.stringify(typed('丙'))}]}`)
    upload.end()
    expect(await upload.answer).toContain('"documents":2')
    expect(await titles(key)).toEqual(['丙', '甲'])
  })

  test('a file is refused from where its key was revoked', async () => {
    const email = `broken${++tenants}@example.com`
    const [key, other] = [await app.key(email), await app.key(email)]
    const person = caller(`${app.url}/console`, (await app.person(email)).headers)
    const upload = await slowly(key, `${BEGIN}${JSON.stringify(typed('甲'))},`)
    await until(other, 1)
    expect((await person('DELETE', `/keys/${key.id}`)).status).toBe(200)
    upload.more(`${JSON.stringify(typed('丙'))}]}`)
    upload.end()
    expect(await upload.answer).toStartWith('HTTP/1.1 401 ')
    expect(await titles(other)).toEqual(['甲'])
    const { entries } = (await person<{ entries: object[] }>('GET', '/audit')).json()
    expect(entries[0]).toMatchObject({ action: 'import', key_id: key.id })
  })
})
