import { afterEach, beforeEach, expect, test } from 'bun:test'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { prepareRuntime } from './runtime.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'moonbase-runtime-'))
  writeFileSync(join(dir, 'a'), 'extension')
  writeFileSync(join(dir, 'b'), 'weights')
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const part = (name: string) => ({ path: join(dir, name), size: statSync(join(dir, name)).size })
const source = (version = 'v1') => ({
  version,
  files: { 'vec0.so': part('a'), 'model/model.onnx': part('b') },
})
const data = () => join(dir, 'data')

test('copies the parts into a folder named by their hash', async () => {
  const runtime = await prepareRuntime(data(), source())
  expect(runtime.vec0).toBe(join(data(), 'runtime', 'v1', 'vec0.so'))
  expect(readFileSync(runtime.vec0, 'utf8')).toBe('extension')
  expect(readFileSync(join(runtime.modelDir, 'model.onnx'), 'utf8')).toBe('weights')
})

test('a second start uses the copy as it is', async () => {
  const { vec0 } = await prepareRuntime(data(), source())
  const before = statSync(vec0).ino
  await prepareRuntime(data(), source())
  expect(statSync(vec0).ino).toBe(before)
})

test('a truncated or missing file is written again', async () => {
  const { vec0, modelDir } = await prepareRuntime(data(), source())
  chmodSync(vec0, 0o700)
  writeFileSync(vec0, 'ext')
  rmSync(join(modelDir, 'model.onnx'))
  await prepareRuntime(data(), source())
  expect(readFileSync(vec0, 'utf8')).toBe('extension')
  expect(readFileSync(join(modelDir, 'model.onnx'), 'utf8')).toBe('weights')
})

test('several starts at once leave one whole copy and nothing unfinished', async () => {
  await Promise.all(Array.from({ length: 6 }, () => prepareRuntime(data(), source())))
  expect(await readdir(join(data(), 'runtime'))).toEqual(['v1'])
  expect((await readdir(join(data(), 'runtime', 'v1'))).sort()).toEqual(['model', 'vec0.so'])
})

test('an upgrade removes the copy of the version before', async () => {
  await prepareRuntime(data(), source('v1'))
  await prepareRuntime(data(), source('v2'))
  expect(await readdir(join(data(), 'runtime'))).toEqual(['v2'])
})

test('a data folder that cannot be written fails with its cause', async () => {
  mkdirSync(data())
  writeFileSync(join(data(), 'runtime'), 'a file, not a folder')
  await expect(prepareRuntime(data(), source())).rejects.toThrow()
})

test('run from source, the parts are used where they lie', async () => {
  const runtime = await prepareRuntime(data())
  expect(runtime.onnxBinding).toBeNull()
  expect(statSync(runtime.vec0).size).toBeGreaterThan(0)
  expect(statSync(join(runtime.modelDir, 'model.onnx')).size).toBeGreaterThan(0)
})
