import { beforeAll, expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dependencies, devDependencies } from '../../package.json'
import { executable } from '../support/executable.ts'
import { runProgram } from '../support/run.ts'
import { startServer } from '../support/server.ts'
import { type TempFolder, tempFolder } from '../support/temp.ts'

let program: string
beforeAll(async () => {
  program = await executable()
}, 240_000)

/** A folder whose files would run as code or change settings if anything read them. */
function hostileFolder(folder: TempFolder): { cwd: string; mark: string } {
  const cwd = folder.file('cwd')
  const mark = folder.file('mark')
  const evil = `require('node:fs').appendFileSync(${JSON.stringify(mark)}, 'ran')\n`
  const put = (path: string, text: string) => {
    const file = join(cwd, path)
    mkdirSync(join(file, '..'), { recursive: true })
    writeFileSync(file, text)
  }
  put('evil.js', evil)
  put('bunfig.toml', 'preload = ["./evil.js"]\n[run]\npreload = ["./evil.js"]\n')
  put('.env', 'MB_PORT=not-a-port\nMB_DATA_DIR=/nowhere\nNODE_OPTIONS=--require=./evil.js\n')
  put('.env.production', 'MB_PORT=not-a-port\n')
  put('package.json', '{"type":"commonjs","imports":{"#x":"./evil.js"},"main":"./evil.js"}')
  put('tsconfig.json', '{"compilerOptions":{"paths":{"*":["./evil.js"]},"baseUrl":"."}}')
  for (const name of Object.keys({ ...dependencies, ...devDependencies, bufferutil: '' })) {
    put(`node_modules/${name}/package.json`, `{"name":"${name}","main":"index.js"}`)
    put(`node_modules/${name}/index.js`, evil)
  }
  return { cwd, mark }
}

test('no file of the working folder runs as code or changes a setting', async () => {
  using folder = tempFolder()
  const { cwd, mark } = hostileFolder(folder)
  const data = folder.file('data')
  const env = { MB_DATA_DIR: data, MB_PORT: '0', MB_LLM_DETECT: 'false' }
  const run = (...args: string[]) => runProgram([program, ...args], { cwd, env })
  expect((await run('version')).code).toBe(0)
  expect(await run('key', 'create')).toMatchObject({ code: 0, err: '' })
  expect(await run('doctor')).toMatchObject({ code: 0, err: '' })
  expect(await run('backup', folder.file('b.db'))).toMatchObject({ code: 0, err: '' })
  const server = await startServer({ dataDir: data, command: [program], cwd, onlyEnv: env })
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
  const { out } = await run('key', 'create', '--json')
  const { key } = JSON.parse(out) as { key: string }
  const stored = await fetch(`${server.url}/v1/kb/docs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ title: 't', text: 'The embedding process starts for this.' }),
  })
  expect(stored.status).toBe(201)
  expect(await server.stop()).toBe(0)
  expect(existsSync(mark)).toBe(false)
}, 120_000)

test('native files with other contents are written again before they are loaded', async () => {
  using folder = tempFolder()
  const data = folder.file('data')
  const env = { MB_DATA_DIR: data, MB_PORT: '0', MB_LLM_DETECT: 'false' }
  const run = (...args: string[]) => runProgram([program, ...args], { cwd: folder.path, env })
  expect((await run('key', 'create')).code).toBe(0)
  const [version = ''] = readdirSync(join(data, 'runtime'))
  const part = (name: string) => join(data, 'runtime', version, name)
  const names = ['vec0.so', 'libonnxruntime.so.1']
  const good = names.map((name) => readFileSync(part(name)))
  const damage = () => {
    for (const [index, name] of names.entries()) {
      chmodSync(part(name), 0o700)
      writeFileSync(part(name), Buffer.alloc(good[index]?.length ?? 0, 'x'))
    }
  }
  damage()
  const { out, code } = await run('doctor')
  expect(code).toBe(0)
  expect(out).toMatch(/warn +Native parts +vec0\.so, .*written again/)
  expect(out).toMatch(/ok +Embedding/)
  damage()
  const server = await startServer({
    dataDir: data,
    command: [program],
    cwd: folder.path,
    onlyEnv: env,
  })
  expect(server.output()).toContain('native parts differed')
  const { key } = JSON.parse((await run('key', 'create', '--json')).out) as { key: string }
  const stored = await fetch(`${server.url}/v1/kb/docs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ title: 't', text: 'The embedding process loads its parts for this.' }),
  })
  expect(stored.status).toBe(201)
  expect(await server.stop()).toBe(0)
  for (const [index, name] of names.entries()) {
    expect(good[index]?.equals(readFileSync(part(name)))).toBe(true)
  }
}, 120_000)
