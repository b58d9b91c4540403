import { afterEach, beforeEach, expect, test } from 'bun:test'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { everyPart, mendEmbeddingParts, prepareRuntime } from './runtime.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'moonbase-runtime-'))
  writeFileSync(join(dir, 'a'), 'extension')
  writeFileSync(join(dir, 'b'), 'weights')
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const part = (name: string) => {
  const bytes = readFileSync(join(dir, name))
  const sha256 = new Bun.CryptoHasher('sha256').update(bytes).digest('hex')
  return { path: join(dir, name), size: bytes.length, sha256 }
}
const source = (version = 'v1') => ({
  version,
  files: { 'vec0.so': part('a'), 'model/model.onnx': part('b') },
  web: [],
})
const data = () => join(dir, 'data')

test('native files are copied into a folder named by their hash', async () => {
  const runtime = await prepareRuntime(data(), source())
  expect(runtime.vec0).toBe(join(data(), 'runtime', 'v1', 'vec0.so'))
  expect(readFileSync(runtime.vec0, 'utf8')).toBe('extension')
  expect(readFileSync(join(runtime.modelDir, 'model.onnx'), 'utf8')).toBe('weights')
})

test('a second start uses the copied native files', async () => {
  const { vec0 } = await prepareRuntime(data(), source())
  const before = statSync(vec0).ino
  await prepareRuntime(data(), source())
  expect(statSync(vec0).ino).toBe(before)
})

test('a truncated or missing native file is written again', async () => {
  const { vec0, modelDir } = await prepareRuntime(data(), source())
  chmodSync(vec0, 0o700)
  writeFileSync(vec0, 'ext')
  rmSync(join(modelDir, 'model.onnx'))
  await prepareRuntime(data(), source())
  expect(readFileSync(vec0, 'utf8')).toBe('extension')
  expect(readFileSync(join(modelDir, 'model.onnx'), 'utf8')).toBe('weights')
})

test('a native file of other contents and the same size is replaced, and logged', async () => {
  const { vec0, replaced } = await prepareRuntime(data(), source())
  expect(replaced).toEqual([])
  chmodSync(vec0, 0o700)
  writeFileSync(vec0, 'EXTENSION')
  expect((await prepareRuntime(data(), source())).replaced).toEqual(['vec0.so'])
  expect(readFileSync(vec0, 'utf8')).toBe('extension')
})

test('native files of the embedding process are verified on start and on demand', async () => {
  const { modelDir } = await prepareRuntime(data(), source())
  const model = join(modelDir, 'model.onnx')
  const damage = () => {
    chmodSync(model, 0o700)
    writeFileSync(model, 'WEIGHTS')
  }
  damage()
  expect((await prepareRuntime(data(), source())).replaced).toEqual([])
  await mendEmbeddingParts(join(data(), 'runtime', 'v1'), source())
  expect(readFileSync(model, 'utf8')).toBe('weights')
  damage()
  const { replaced } = await prepareRuntime(data(), source(), everyPart)
  expect(replaced).toEqual(['model/model.onnx'])
  expect(readFileSync(model, 'utf8')).toBe('weights')
})

test('a link in place of a native file is replaced, and its target unchanged', async () => {
  const { vec0 } = await prepareRuntime(data(), source())
  const elsewhere = join(dir, 'elsewhere')
  writeFileSync(elsewhere, 'extension')
  chmodSync(elsewhere, 0o644)
  rmSync(vec0)
  symlinkSync(elsewhere, vec0)
  await prepareRuntime(data(), source())
  expect(lstatSync(vec0).isSymbolicLink()).toBe(false)
  expect(statSync(elsewhere).mode & 0o777).toBe(0o644)
})

test.each(['runtime', 'runtime/v1', 'runtime/v1/model'])(
  'a link in place of the folder %s is refused, and nothing is written behind it',
  async (name) => {
    await prepareRuntime(data(), source())
    const elsewhere = join(dir, 'elsewhere')
    mkdirSync(elsewhere)
    rmSync(join(data(), name), { recursive: true })
    symlinkSync(elsewhere, join(data(), name))
    await expect(prepareRuntime(data(), source())).rejects.toThrow('is a link')
    expect(await readdir(elsewhere)).toEqual([])
  },
)

test('concurrent starts leave one whole copy of the native files', async () => {
  await Promise.all(Array.from({ length: 6 }, () => prepareRuntime(data(), source())))
  expect(await readdir(join(data(), 'runtime'))).toEqual(['v1'])
  expect((await readdir(join(data(), 'runtime', 'v1'))).sort()).toEqual(['model', 'vec0.so'])
})

test('an upgrade removes the native files of the version before', async () => {
  await prepareRuntime(data(), source('v1'))
  await prepareRuntime(data(), source('v2'))
  expect(await readdir(join(data(), 'runtime'))).toEqual(['v2'])
})

test('a data folder that cannot be written fails with its cause', async () => {
  mkdirSync(data())
  writeFileSync(join(data(), 'runtime'), 'a file, not a folder')
  await expect(prepareRuntime(data(), source())).rejects.toThrow()
})

test('native files are used where they lie when run from source', async () => {
  const runtime = await prepareRuntime(data())
  expect(runtime.onnxBinding).toBeNull()
  expect(statSync(runtime.vec0).size).toBeGreaterThan(0)
  expect(statSync(join(runtime.modelDir, 'model.onnx')).size).toBeGreaterThan(0)
})
