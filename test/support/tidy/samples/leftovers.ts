import type { Sample } from './sample.ts'

// Assembled here, so that the rules do not find them in this file.
const home = ['', 'home', 'somebody', 'moonbase'].join('/')
const registry = ['https:/', 'registry.example.org', 'left-pad'].join('/')
const undone = ['// TO', 'DO: later'].join('')
const silenced = ['// @ts', 'ignore'].join('-')

export const LEFTOVER_SAMPLES: readonly Sample[] = [
  {
    rule: 'no work is left as a comment',
    bad: { 'src/core/a.ts': `\nconst a = 1 ${undone}` },
    expect: ['src/core/a.ts:2'],
    good: { 'src/core/a.ts': `const ${undone.slice(3, 7)} = 1` },
  },
  {
    rule: 'no check is silenced',
    bad: { 'test/a.ts': silenced },
    expect: ['test/a.ts:1'],
    good: { 'test/a.ts': `const a = '${silenced}'` },
  },
  {
    rule: 'no test is focused',
    bad: { 'test/a.test.ts': "test('a', run)\ntest.only('b', run)\ndescribe.only('c', run)" },
    expect: ['test/a.test.ts:2', 'test/a.test.ts:3'],
    good: { 'test/a.test.ts': "list.only('b')" },
  },
  {
    rule: 'a skipped test says why',
    bad: { 'test/a.test.ts': "test.skip('a', run)\ntest.todo('b')" },
    expect: ['test/a.test.ts:1', 'test/a.test.ts:2'],
    good: { 'test/a.test.ts': "// Needs a sound card.\ntest.skip('a', run)" },
  },
  {
    rule: 'nothing is typed any',
    bad: { 'src/core/a.ts': 'const a: any = 1\nconst b = a as any\nconst c: any[] = []' },
    expect: ['src/core/a.ts:1', 'src/core/a.ts:2', 'src/core/a.ts:3'],
    good: { 'src/core/a.ts': "const any = 'any' as unknown" },
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
    },
  },
]
