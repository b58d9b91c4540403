import { beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { marked, type Tokens } from 'marked'
import { ROOT } from './support/command.ts'
import { type Ran, runProgram } from './support/run.ts'
import { tempFolder } from './support/temp.ts'

// Follows the how-tos of CONTRIBUTING.md on a copy of the repository, as they are printed.

/** Two processors that have other work need this long for the compiler alone. */
const TIMEOUT_MS = 180_000
const COPIED = ['src', 'web', 'test', 'scripts', 'package.json', 'tsconfig.json', 'biome.json']
const LINKED = ['node_modules', 'models', 'bunfig.toml', 'bun.lock', 'dist']

const folder = tempFolder()
const at = (path: string) => join(folder.path, path)

/** A client of the door. */
const PLAIN = `
import { expect, test } from 'bun:test'
import { startConversation } from '../support/conversation.ts'

test('words alone', async () => {
  const { app, key, upstream, stop } = await startConversation()
  upstream.reply({ pieces: ['Hello', ' there'] })
  const init = { method: 'POST', headers: key.headers, body: '{"text":"hi"}' }
  const text = await (await fetch(app.url + '/v1/plain', init)).text()
  expect(text.match(/^data.*/gm)).toEqual(['data: "Hello"', 'data: " there"'])
  await stop()
})`

interface Block {
  readonly path: string
  readonly isChange: boolean
  readonly text: string
}

/** The number of the next migration in a folder. */
function nextIn(path: string): string {
  const files = readdirSync(join(ROOT, path)).filter((name) => name.endsWith('.sql'))
  return String(files.length + 1).padStart(4, '0')
}

/** The blocks that name a file; NNNN and PPPP are the numbers of the next migrations. */
async function blocksOf(markdown: string): Promise<Block[]> {
  const sqlite = nextIn('src/storage/migrations')
  const postgres = nextIn('src/storage/postgres/migrations')
  const codes = marked
    .lexer(markdown.replaceAll('NNNN', sqlite).replaceAll('PPPP', postgres))
    .filter((token): token is Tokens.Code => token.type === 'code')
  return codes.flatMap(({ lang = '', text }) => {
    const [kind, path] = lang.split(' file=')
    return path === undefined ? [] : [{ path, isChange: kind === 'diff', text }]
  })
}

/** The file with the lines of a change in their places; each place must be there once. */
function changed(file: string, change: string): string {
  let text = `\n${file}`
  for (const part of change.split('\n…\n')) {
    const lines = part.split('\n')
    const side = (dropped: string) =>
      lines.filter((line) => !line.startsWith(dropped)).map((line) => `${line.slice(1)}\n`)
    const [before, after] = [`\n${side('+').join('')}`, `\n${side('-').join('')}`]
    // A part that only adds stands at the head of the file.
    const places = before === '\n' ? 1 : text.split(before).length - 1
    expect({ places, part }).toEqual({ places: 1, part })
    text = before === '\n' ? after + text.slice(1) : text.replace(before, () => after)
  }
  return text.slice(1)
}

/** Without the executable, which knows none of the additions. */
const env = { ...process.env, MOONBASE_BIN: '' }
const bun = (...args: string[]): Promise<Ran> =>
  runProgram([process.execPath, ...args], { cwd: folder.path, env })

const green = async (...args: string[]) => {
  const { out, err, code } = await bun(...args)
  expect({ code, out: code === 0 ? '' : out, err: code === 0 ? '' : err }).toEqual({
    code: 0,
    out: '',
    err: '',
  })
}

test('every test that CONTRIBUTING.md names is there', async () => {
  const markdown = await Bun.file(join(ROOT, 'CONTRIBUTING.md')).text()
  const named = [...markdown.matchAll(/bun test (\S+\.test\.ts).* -t '([^']+)'/g)]
  expect(named.length).toBeGreaterThan(0)
  for (const [, path = '', name = ''] of named) {
    const text = await Bun.file(join(ROOT, path)).text()
    const names = [...text.matchAll(/\btest\('([^']+)'/g)].map((match) => match[1] ?? '')
    expect({ path, name, count: names.filter((one) => one.includes(name)).length }).not.toEqual({
      path,
      name,
      count: 0,
    })
  }
})

describe('the how-tos of CONTRIBUTING.md', () => {
  let blocks: Block[] = []

  beforeAll(async () => {
    for (const path of COPIED) cpSync(join(ROOT, path), at(path), { recursive: true })
    for (const path of LINKED)
      if (existsSync(join(ROOT, path))) symlinkSync(join(ROOT, path), at(path))
    blocks = await blocksOf(await Bun.file(join(ROOT, 'CONTRIBUTING.md')).text())
    for (const { path, isChange, text } of blocks) {
      mkdirSync(dirname(at(path)), { recursive: true })
      const file = Bun.file(at(path))
      await Bun.write(file, isChange ? changed(await file.text(), text) : `${text}\n`)
    }
    await green('scripts/manual.ts')
    await green('scripts/make-database-fixtures.ts')
  }, TIMEOUT_MS)

  test('the how-tos add a tool, a setting, a route, a door, a channel and a migration', () => {
    const paths = blocks.map(({ path }) => path.replace(/\d{4}/, 'NNNN'))
    expect(paths).toEqual([
      'src/tools/random-number.ts',
      'src/wiring/tools.ts',
      'web/i18n/tool-words.ts',
      'src/config.ts',
      'scripts/manual/settings-words.ts',
      'src/features/settings/routes.ts',
      'test/api/permissions.test.ts',
      'web/i18n/reference-words.ts',
      'src/doors/plain/routes.ts',
      'src/app.ts',
      'test/api/permissions.test.ts',
      'web/i18n/reference-words.ts',
      'src/channels/silence/tts.ts',
      'src/config.ts',
      'src/wiring/voice.ts',
      'src/storage/migrations/NNNN-app-note.sql',
      'src/storage/postgres/migrations/NNNN-app-note.sql',
      'src/storage/migrations/index.ts',
      'src/storage/postgres/migrations/index.ts',
    ])
  })

  test(
    'the additions of the how-tos compile',
    async () => {
      const paths = blocks.map(({ path }) => path).filter((path) => path.endsWith('.ts'))
      const project = { extends: './tsconfig.json', include: ['src', ...paths] }
      await Bun.write(at('how-tos.json'), JSON.stringify(project))
      const compiler = 'node_modules/typescript/bin/tsc'
      await green(compiler, '--noEmit', '--checkers', '1', '--project', 'how-tos.json')
    },
    TIMEOUT_MS,
  )

  test(
    'the additions of the how-tos keep format and lint',
    () => {
      const paths = [...new Set(blocks.map(({ path }) => path))]
      const biome = 'node_modules/@biomejs/biome/bin/biome'
      return green(biome, 'check', '--error-on-warnings', ...paths)
    },
    TIMEOUT_MS,
  )

  test(
    'the additions of the how-tos keep the rules of layers, permissions and pages',
    () =>
      green(
        'test',
        'test/tidy.test.ts',
        'test/contract/manual.test.ts',
        'test/contract/reference-words.test.ts',
        'test/api/openapi.test.ts',
        'test/api/permissions.test.ts',
        'test/api/fallback.test.ts',
        '--timeout',
        '60000',
      ),
    TIMEOUT_MS,
  )

  test(
    'the door of the how-tos answers with words alone',
    async () => {
      await Bun.write(at('test/api/plain.test.ts'), PLAIN)
      await green('test', 'test/api/plain.test.ts')
    },
    TIMEOUT_MS,
  )

  test(
    'the migrations of the how-tos give both databases the same columns',
    () =>
      green('test', 'test/contract/postgres.test.ts', '-t', 'same tables', '--timeout', '60000'),
    TIMEOUT_MS,
  )

  test(
    'the additions of the how-tos give a server that has them all',
    async () => {
      const { out, code } = await bun('src/main.ts', '--help')
      expect(code).toBe(0)
      expect(out).toContain('MB_RANDOM_MAX')
      await green('test', 'test/e2e/upgrade.test.ts', '-t', 'app-note')
    },
    TIMEOUT_MS,
  )
})
