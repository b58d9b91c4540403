import { afterAll, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readModelFolder } from '../../src/channels/onnx/model-folder.ts'
import { runProgram } from '../support/run.ts'
import { tempFolder } from '../support/temp.ts'

const SCRIPT = join(import.meta.dir, '..', '..', 'scripts', 'fetch-model.ts')
const sha256 = (text: string) => new Bun.CryptoHasher('sha256').update(text).digest('hex')

let damaged = ''
const asked: string[] = []
const hub = Bun.serve({
  port: 0,
  fetch(request) {
    const { pathname } = new URL(request.url)
    asked.push(pathname)
    const [, file = ''] = pathname.split('/resolve/main/')
    const body = `{"file":"${file}"}`
    const etag = file === damaged ? sha256('something else') : sha256(body)
    return new Response(body, { headers: { 'x-linked-etag': `"${etag}"` } })
  },
})
const folder = tempFolder()
afterAll(async () => {
  await hub.stop(true)
  folder[Symbol.dispose]()
})

function run(...args: string[]) {
  const hubUrl = hub.url.href.replace(/\/$/, '')
  const options = ['--base-url', hubUrl, '--into', folder.path]
  return runProgram([process.execPath, SCRIPT, ...args, ...options])
}

test('fetch-model downloads a model into a folder that describes itself', async () => {
  const { out, err, code } = await run('bge-small-zh-v1.5')
  expect(code).toBe(0)
  expect(out).toContain(folder.file('bge-small-zh-v1.5'))
  expect(err).toContain('as stated')
  expect(asked).toContain('/Xenova/bge-small-zh-v1.5/resolve/main/onnx/model_quantized.onnx')
  expect(await readModelFolder(folder.file('bge-small-zh-v1.5'))).toMatchObject({
    kind: 'onnx',
    pooling: 'cls',
    dimensions: 512,
    queryPrefix: '为这个句子生成表示以用于检索相关文章：',
  })
})

test('fetch-model drops a damaged download, and the next run continues', async () => {
  damaged = 'tokenizer.json'
  const first = await run('all-MiniLM-L6-v2')
  expect(first.code).toBe(1)
  expect(existsSync(folder.file('all-MiniLM-L6-v2', 'tokenizer.json'))).toBe(false)
  expect(existsSync(folder.file('all-MiniLM-L6-v2', 'model.json'))).toBe(false)
  damaged = ''
  asked.length = 0
  expect((await run('all-MiniLM-L6-v2')).code).toBe(0)
  expect(asked.map((path) => path.split('/').at(-1))).toEqual([
    'tokenizer.json',
    'tokenizer_config.json',
  ])
  expect(readFileSync(folder.file('all-MiniLM-L6-v2', 'tokenizer.json'), 'utf8')).toContain('file')
})

test('fetch-model lists the known models for an unknown name', async () => {
  const { err, code } = await run('nonsense')
  expect(code).toBe(2)
  expect(err).toContain('multilingual-e5-small')
})
