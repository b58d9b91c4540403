import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { environment, moonbase, ROOT } from '../support/command.ts'
import { run, sentence } from '../support/run.ts'
import { tempFolder } from '../support/temp.ts'

/** `moonbase sync` against a server. */

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app[Symbol.asyncDispose]())

interface Source {
  readonly id: string
  readonly origin: string | null
  readonly state: string
  readonly collection_id: string | null
}

let tenants = 0

async function setup() {
  const temp = tempFolder()
  const folder = join(temp.path, 'handbook')
  const { headers } = await app.key(`sync${tenants++}@example.com`)
  const me = caller(`${app.url}/v1`, headers)
  const env = { MOONBASE_KEY: headers.authorization.slice('Bearer '.length) }
  const put = (path: string, text = `# ${path}\n\nThe text of ${path}.`) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const sources = async () => (await me<{ sources: Source[] }>('GET', '/kb/sources')).json().sources
  return {
    me,
    env,
    temp,
    folder,
    put,
    gone: (path: string) => rmSync(join(folder, path)),
    sources,
    origins: async () => (await sources()).map(({ origin }) => origin).toSorted(),
    sync: (...more: string[]) => run(['sync', folder, '--to', app.url, ...more], temp.path, env),
    [Symbol.dispose]: () => temp[Symbol.dispose](),
  }
}

const last = (out: string) => out.trim().split('\n').at(-1)

test('a folder is sent once, then what changed, and what is gone goes on demand', async () => {
  using at = await setup()
  at.put('a.md')
  at.put('deep/b.md')
  const dry = await at.sync('--prefix', 'h/', '--dry-run')
  expect([dry.code, last(dry.out)]).toEqual([
    0,
    'would be: 2 sent, 0 unchanged, 0 deleted, 0 failed',
  ])
  expect(await at.origins()).toEqual([])
  const first = await at.sync('--prefix', 'h/')
  expect([first.code, first.out]).toEqual([
    0,
    '+ a.md\n+ deep/b.md\n2 sent, 0 unchanged, 0 deleted, 0 failed\n',
  ])
  expect(await at.origins()).toEqual(['h/a.md', 'h/deep/b.md'])
  const before = await at.sources()
  at.put('a.md', '# a\n\nAnother text.')
  at.put('c.md')
  at.gone('deep/b.md')
  const second = await at.sync('--prefix', 'h/')
  expect(second.out).toBe('~ a.md\n+ c.md\n2 sent, 0 unchanged, 0 deleted, 0 failed\n')
  expect(await at.origins()).toEqual(['h/a.md', 'h/c.md', 'h/deep/b.md'])
  const a = (sources: readonly Source[]) => sources.find(({ origin }) => origin === 'h/a.md')?.id
  expect(a(await at.sources())).toBe(a(before))
  // Another prefix is another folder's.
  const other = await at.sync('--prefix', 'x/', '--delete', '--include', 'c.*')
  expect(last(other.out)).toBe('1 sent, 0 unchanged, 0 deleted, 0 failed')
  const third = await at.sync('--prefix', 'h/', '--delete')
  expect(third.out).toBe('- deep/b.md\n0 sent, 2 unchanged, 1 deleted, 0 failed\n')
  expect(await at.origins()).toEqual(['h/a.md', 'h/c.md', 'x/c.md'])
}, 60_000)

test('what another has deleted first counts as deleted', async () => {
  using at = await setup()
  at.put('a.md')
  at.put('b.md')
  expect((await at.sync()).code).toBe(0)
  at.gone('b.md')
  using between = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      const { method, headers } = request
      const send = () => fetch(`${app.url}${pathname}${search}`, { method, headers })
      if (method === 'DELETE') await send()
      return send()
    },
  })
  const { code, out } = await at.sync('--to', between.url.href, '--delete')
  expect([code, last(out)]).toEqual([0, '0 sent, 1 unchanged, 1 deleted, 0 failed'])
  expect(await at.origins()).toEqual(['a.md'])
}, 60_000)

test('hidden files, links and what the rules of any folder name are left out', async () => {
  using at = await setup()
  at.put('a.md')
  at.put('.hidden.md')
  at.put('.git/config.md')
  at.put('build/out.md')
  at.put('deep/draft.md')
  at.put('deep/kept.draft.md')
  at.put('deep/secret.md')
  at.put('deep/build/again.md')
  at.put('other/secret.md')
  at.put('.gitignore', 'build/\n*.draft.md\n')
  at.put('deep/.gitignore', '/draft.md\n!kept.draft.md\n')
  at.put('deep/.moonbaseignore', 'secret.md\n')
  symlinkSync(join(at.folder, 'a.md'), join(at.folder, 'link.md'))
  expect((await at.sync()).code).toBe(0)
  expect(await at.origins()).toEqual(['a.md', 'deep/kept.draft.md', 'other/secret.md'])
}, 60_000)

test('a file that fails is told in one line, and the others are sent', async () => {
  using at = await setup()
  at.put('a.md')
  at.put('b.pdf', '%PDF-1.7 broken')
  at.put('c.bin', '\0\u0001\u0002')
  const { out, err, code } = await at.sync()
  expect([code, last(out)]).toEqual([1, '1 sent, 0 unchanged, 0 deleted, 2 failed'])
  const lines = err.trim().split('\n')
  expect(lines).toHaveLength(3)
  expect(
    lines
      .slice(0, 2)
      .map((line) => line.slice(0, 7))
      .toSorted(),
  ).toEqual(['b.pdf: ', 'c.bin: '])
  expect(await at.sources()).toContainEqual(
    expect.objectContaining({ origin: 'a.md', state: 'ready' }),
  )
}, 60_000)

test('nothing is deleted without a folder, a key that works, or a known collection', async () => {
  using at = await setup()
  at.put('a.md')
  await at.sync()
  const refused = async (args: readonly string[], env = at.env) =>
    sentence(await run(['sync', ...args, '--delete'], at.temp.path, env))
  const nowhere = join(at.temp.path, 'nowhere')
  expect(await refused([nowhere, '--to', app.url])).toContain('there is no folder')
  const wrong = { MOONBASE_KEY: `sk-mb-${'0'.repeat(64)}` }
  expect(await refused([at.folder, '--to', app.url], wrong)).toContain('the key is refused')
  const unknown = [at.folder, '--to', app.url, '--collection', 'unknown']
  expect(await refused(unknown)).toBe('there is no collection "unknown"')
  const keyless = await run(['sync', at.folder, '--to', app.url], at.temp.path)
  expect(sentence(keyless)).toContain('MOONBASE_KEY')
  expect(sentence(await run(['sync', at.folder], at.temp.path, at.env)).length).toBeGreaterThan(0)
  expect(await at.origins()).toEqual(['a.md'])
}, 60_000)

test('a folder goes into a collection, by its name', async () => {
  using at = await setup()
  at.put('a.md')
  const { id } = (await at.me<{ id: string }>('POST', '/kb/collections', { name: '手册' })).json()
  await at.sync()
  const sent = await at.sync('--collection', '手册', '--delete')
  expect(last(sent.out)).toBe('1 sent, 0 unchanged, 0 deleted, 0 failed')
  at.gone('a.md')
  const gone = await at.sync('--collection', '手册', '--delete')
  expect(last(gone.out)).toBe('0 sent, 0 unchanged, 1 deleted, 0 failed')
  expect(await at.sources()).toMatchObject([{ origin: 'a.md', collection_id: null }])
  // The key of an assistant with one collection writes into that one.
  const app_ = { name: 'assistant', collections: [id] }
  const assistant = (await at.me<{ id: string }>('POST', '/apps', app_)).json()
  const path = `/apps/${assistant.id}/keys`
  const { key } = (await at.me<{ key: string }>('POST', path, {})).json()
  at.put('b.md')
  const args = ['sync', at.folder, '--to', `${app.url}/`]
  expect((await run(args, at.temp.path, { MOONBASE_KEY: key })).code).toBe(0)
  expect(await at.sources()).toContainEqual(
    expect.objectContaining({ origin: 'b.md', collection_id: id }),
  )
}, 60_000)

test('a watched folder is sent when it changes', async () => {
  using at = await setup()
  at.put('a.md')
  const child = Bun.spawn(
    [...moonbase(), 'sync', at.folder, '--to', app.url, '--watch', '--delete'],
    { cwd: ROOT, env: environment(at.temp.path, at.env), stdout: 'pipe', stderr: 'ignore' },
  )
  try {
    const lines: string[] = []
    const decoder = new TextDecoder()
    const stages = [
      { line: '1 sent, 0 unchanged', next: () => at.put('b.md') },
      { line: '1 sent, 1 unchanged', next: () => at.gone('a.md') },
      { line: '0 sent, 1 unchanged, 1 deleted', next: () => {} },
    ]
    let done = 0
    for await (const piece of child.stdout) {
      lines.push(decoder.decode(piece))
      const stage = stages[done]
      if (stage && lines.join('').includes(stage.line)) {
        stage.next()
        lines.length = 0
        done += 1
      }
      if (done === stages.length) break
    }
    expect(done).toBe(stages.length)
    expect(await at.origins()).toEqual(['b.md'])
  } finally {
    child.kill()
    await child.exited
  }
}, 60_000)
