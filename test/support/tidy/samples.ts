import { sha256Hex } from '../../../src/core/crypto.ts'

/** Files that break a rule, the places that the rule reports, and files that pass. */
interface Sample {
  readonly rule: string
  readonly bad: Readonly<Record<string, string>>
  readonly expect: readonly string[]
  readonly good: Readonly<Record<string, string>>
}

const LAYER_SAMPLES: readonly Sample[] = [
  {
    rule: 'no file imports itself',
    bad: { 'src/documents/read.ts': "\nconst { decode } = await import('./read.ts')" },
    expect: ['src/documents/read.ts:2'],
    good: { 'src/documents/read.ts': "const { readPdf } = await import('./pdf.ts')" },
  },
  {
    rule: 'every file of src/ has a layer',
    bad: { 'src/helpers/misc.ts': 'export const a = 1' },
    expect: ['src/helpers/misc.ts:1'],
    good: { 'src/core/a.ts': 'export const a = 1', 'src/commands/key.ts': '', 'src/sql.d.ts': '' },
  },
  {
    rule: 'layers import downwards only',
    bad: {
      'src/core/a.ts': "import type { Db } from '../storage/db.ts'",
      'src/storage/db.ts': "import { open } from './sqlite/db.ts'",
      'src/channels/openai/chat.ts': "import { kb } from '../../features/kb/service.ts'",
      'src/channels/openai/tts.ts': "\nimport { x } from '../minimax/tts.ts'",
      'src/features/apps/service.ts': "import { createKb } from '../kb/service.ts'",
      'src/features/knowledge/service.ts': "export { open } from '../../storage/sqlite/db.ts'",
      'src/features/knowledge/model.ts': "import type { R } from './routes.ts'",
      'src/features/knowledge/routes.ts': "const x = await import('../apps/model.ts')",
      'src/http/gate.ts': "import { find } from '../features/keys/service.ts'",
      'src/http/sse.ts': "import { surface } from '../surface.ts'",
      'src/http/body.ts': "import type { Keys } from '../features/keys/service.ts'",
      'src/surface.ts': "import { main } from '../main.ts'",
      'src/app.ts': "import { type Chat } from './channels/openai/chat.ts'",
    },
    expect: [
      'src/core/a.ts:1',
      'src/storage/db.ts:1',
      'src/channels/openai/chat.ts:1',
      'src/channels/openai/tts.ts:2',
      'src/features/apps/service.ts:1',
      'src/features/knowledge/service.ts:1',
      'src/features/knowledge/model.ts:1',
      'src/features/knowledge/routes.ts:1',
      'src/http/gate.ts:1',
      'src/http/sse.ts:1',
      'src/http/body.ts:1',
      'src/surface.ts:1',
      'src/app.ts:1',
    ],
    good: {
      'src/main.ts': "import { open } from './storage/sqlite/db.ts'",
      'src/commands/key.ts': "import { open } from '../storage/sqlite/db.ts'",
      'src/features/apps/service.ts': "import type { Kb } from '../kb/service.ts'",
      'src/features/knowledge/routes.ts':
        "import { a } from './service.ts'\nimport { b } from '../../http/sse.ts'",
      'src/http/gate.ts': "import type { Principal } from '../core/principal.ts'",
      'test/api/kb.test.ts': "import { open } from '../../src/storage/sqlite/db.ts'",
    },
  },
  {
    rule: 'a test beside a module stays in its folder',
    bad: {
      'src/features/knowledge/index/store.test.ts':
        "import { open } from '../../storage/sqlite/db.ts'",
    },
    expect: ['src/features/knowledge/index/store.test.ts:1'],
    good: {
      'src/features/knowledge/index/store.test.ts':
        "import { a } from './store.ts'\nimport { openDb } from '../../../test/support/db.ts'",
    },
  },
]

// Assembled here, so that the rules do not find them in this file.
const home = ['', 'home', 'somebody', 'moonbase'].join('/')
const registry = ['https:/', 'registry.example.org', 'left-pad'].join('/')
const undone = ['// TO', 'DO: later'].join('')
const elsewhere = ['con', 'tract'].join('')
const sealed = ['0001-init', '0002-b']
  .map((name, i) => {
    const hash = sha256Hex(`CREATE TABLE ${'ab'[i]} (x TEXT);`)
    return `${hash}  src/storage/migrations/${name}.sql\n`
  })
  .join('')
const silenced = ['// @ts', 'ignore'].join('-')

const TEXT_SAMPLES: readonly Sample[] = [
  {
    rule: 'SQL stays in store.ts and storage/',
    bad: {
      'src/features/knowledge/service.ts': [
        'const a = sql`SELECT id',
        "const b = 'INSERT INTO doc VALUES (?)'",
        "const c = 'PRAGMA optimize'",
        'const d = sql`',
        '  SELECT id FROM doc`',
      ].join('\n'),
    },
    expect: [1, 2, 3, 5].map((line) => `src/features/knowledge/service.ts:${line}`),
    good: {
      'src/features/knowledge/index/store.ts': "const b = 'DELETE FROM doc'",
      'src/features/knowledge/service.ts':
        "const words = 'select a document, update it, delete from it'",
    },
  },
  {
    rule: 'only roots and core read the clock and chance',
    bad: {
      'src/features/knowledge/service.ts':
        'const a = Date.now()\nnew Date()\nnew Date\nMath.random()',
    },
    expect: [1, 2, 3, 4].map((line) => `src/features/knowledge/service.ts:${line}`),
    good: {
      'src/core/clock.ts': 'export const now = () => Date.now()',
      'src/features/knowledge/service.ts': 'const at = new Date(clock.now())',
    },
  },
  {
    rule: 'the console imports types only from src/, and limits',
    bad: { 'web/pages/a.tsx': "import { open } from '../../src/core/errors.ts'" },
    expect: ['web/pages/a.tsx:1'],
    good: {
      'web/pages/a.tsx': "import type { App } from '../../src/features/apps/model.ts'",
      'web/pages/b.tsx': "import { APPS_MAX } from '../../src/core/limits/contract.ts'",
    },
  },
  {
    rule: 'no work is left as a comment',
    bad: { 'src/core/a.ts': `\nconst a = 1 ${undone}` },
    expect: ['src/core/a.ts:2'],
    good: { 'src/core/a.ts': `const ${undone.slice(3, 7)} = 1` },
  },
  {
    rule: 'no comment cites a text that is not here',
    bad: {
      'src/core/a.ts': `\n/** A key (${elsewhere}, section 4). */\n// As the ${elsewhere} says.`,
    },
    expect: ['src/core/a.ts:2', 'src/core/a.ts:3'],
    good: { 'src/core/a.ts': `// Keys (RFC 6750).\nconst a = '(${elsewhere})'` },
  },
  {
    rule: 'no check is silenced',
    bad: { 'test/a.ts': silenced },
    expect: ['test/a.ts:1'],
    good: { 'README.md': silenced },
  },
  {
    rule: 'lines have at most 100 columns',
    bad: { 'src/storage/migrations/0001-init.sql': `\n${'x'.repeat(101)}` },
    expect: ['src/storage/migrations/0001-init.sql:2'],
    good: { 'src/core/a.ts': `'${'𝄞'.repeat(98)}'`, 'README.md': 'x'.repeat(101) },
  },
  {
    rule: 'no file names a path of one machine',
    bad: { 'package.json': `{ "a": "x",\n"b": "${home}" }` },
    expect: ['package.json:2'],
    good: { 'src/core/a.ts': "const a = ['/home', 'src/home/x', '/v1/tmp/x', './tmp/x']" },
  },
  {
    rule: 'no file names a package registry',
    bad: { 'bun.lock': `\n["left-pad", "${registry}"]` },
    expect: ['bun.lock:2'],
    good: { 'README.md': 'npm start, see https://bun.sh' },
  },
  {
    rule: 'migrations are numbered without gaps',
    bad: {
      'src/storage/migrations/0001-init.sql': '',
      'src/storage/migrations/0003-devices.sql': '',
      'src/storage/migrations/3-more.sql': '',
    },
    expect: ['src/storage/migrations/0003-devices.sql:1', 'src/storage/migrations/3-more.sql:1'],
    good: {
      'src/storage/migrations/0001-init.sql': '',
      'src/storage/migrations/0002-devices.sql': '',
      'src/storage/postgres/migrations/0001-init.sql': '',
    },
  },
  {
    rule: 'a released migration does not change',
    bad: {
      'src/storage/migrations/0001-init.sql': 'CREATE TABLE a (x TEXT, y TEXT);',
      'src/storage/released.sha256': sealed,
    },
    expect: ['src/storage/released.sha256:1', 'src/storage/released.sha256:2'],
    good: {
      'src/storage/migrations/0001-init.sql': 'CREATE TABLE a (x TEXT);',
      'src/storage/migrations/0002-b.sql': 'CREATE TABLE b (x TEXT);',
      'src/storage/migrations/0003-not-yet-released.sql': 'CREATE TABLE c (x TEXT);',
      'src/storage/released.sha256': sealed,
    },
  },
]

const part = ['$', '{guard.sql}'].join('')
const counted = 'SELECT 1 WHERE (SELECT count(*) FROM a) < 3`'
const LOCK_SAMPLES: readonly Sample[] = [
  {
    rule: 'a statement that writes by what it reads names its lock',
    bad: {
      'src/features/a/store.ts': `run(sql\`INSERT INTO a (id) ${counted})`,
      'src/features/b/store.ts': `
        sql\`DELETE FROM b WHERE NOT EXISTS (SELECT 1 FROM a)\`
        sql\`UPDATE b SET n = (SELECT max(n) FROM b)\``,
      'src/features/c/store.ts': `db.run({ sql: \`DELETE FROM c WHERE ${part}\`, args })`,
      'src/features/d/store.ts': 'sql`DELETE FROM d WHERE id NOT IN (SELECT id FROM a)`',
      'src/features/e/store.ts': 'sql`\n  INSERT INTO e WITH a AS (SELECT 1 FROM b) TABLE a`',
    },
    expect: [
      'src/features/a/store.ts:1',
      'src/features/b/store.ts:2',
      'src/features/b/store.ts:3',
      'src/features/c/store.ts:1',
      'src/features/d/store.ts:1',
      'src/features/e/store.ts:1',
    ],
    good: {
      'src/features/a/store.ts': `run(locked('a', tenantId)\`INSERT INTO a (id) ${counted})`,
      'src/features/b/store.ts':
        '// No lock: rows only grow older.\nsql`DELETE FROM b WHERE id IN (SELECT id FROM a)`',
      'src/features/c/store.ts': `
        withLock(['c', tenantId], { sql: \`DELETE FROM c WHERE ${part}\`, args })`,
      'src/features/d/store.ts': 'sql`DELETE FROM d WHERE id IN (SELECT value FROM json_each(?))`',
      'src/features/e/store.ts': 'sql`SELECT count(*) FROM e`\nsql`UPDATE e SET n = 1`',
      'src/storage/postgres/shared-state.ts': `sql\`INSERT INTO a (id) ${counted}`,
    },
  },
]

const SPREAD_SAMPLES: readonly Sample[] = [
  {
    rule: 'wiring names each part that it passes on',
    bad: {
      'src/wiring/compose.ts': 'const agent = createAgent({ ...turn, keys })',
      'src/wiring/voice.ts': `
        const parts = [
          { a, ...b },
        ]
        return isOn ? { ...c } : null`,
      'src/wiring/ollama.ts': 'serve(Object.assign(options, { tls }))',
      'src/app.ts': "use(/[{]/, '{', () => ({ ...services, a: [...b] }))",
    },
    expect: [
      'src/wiring/compose.ts:1',
      'src/wiring/voice.ts:3',
      'src/wiring/voice.ts:5',
      'src/wiring/ollama.ts:1',
      'src/app.ts:1',
    ],
    good: {
      'src/wiring/compose.ts': `
        const { keys, ...rest } = parts
        const all = { writers: [jobs, ...processes], close: () => closeAll(...closing) }
        const of = ({ a, ...more }: Parts) => more
        // { ...parts } was here, and ' with it.
        Object.assign(current, await choose())
        const text = '{ ...parts }'`,
      'src/features/agent/turn.ts': 'run({ ...options, signal })',
      'src/wiring/compose.test.ts': 'compose({ ...adapters })',
    },
  },
  {
    rule: 'no object is made to be spread at once',
    bad: { 'src/features/a/service.ts': ['\nadd({ ..', '.{ id, name }, at })'].join('') },
    expect: ['src/features/a/service.ts:2'],
    good: { 'src/features/a/service.ts': 'add({ ...row, at, ...(note ? { note } : {}) })' },
  },
]

export const SAMPLES = [...LAYER_SAMPLES, ...TEXT_SAMPLES, ...LOCK_SAMPLES, ...SPREAD_SAMPLES]
