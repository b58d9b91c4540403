import type { Sample } from './sample.ts'

export const MACHINE_SAMPLES: readonly Sample[] = [
  {
    rule: 'only roots and core touch clock, network and process',
    bad: {
      'src/features/kb/service.ts': [
        'const a = fetch(url)',
        'const b = process.env.HOME ?? Bun.env.HOME',
        'const c = [Date.now(), new Date(), new Date]',
        'const d = Math.random()',
        'setTimeout(run, 1)',
        'const f = globalThis.fetch',
        "import { setTimeout as sleep } from 'node:timers/promises'",
        'const createX = ({ get = fetch }) => get',
        'function shadow() { { const setInterval = 1 } setInterval(run) }',
      ].join('\n'),
    },
    expect: [1, 2, 2, 3, 3, 3, 4, 5, 6, 8, 9, 7].map((n) => `src/features/kb/service.ts:${n}`),
    good: {
      'src/main.ts': 'fetch(process.env.URL, Date.now())',
      'src/commands/doctor/doctor.ts': 'await fetch(url)',
      'src/core/clock.ts': 'export const now = () => Date.now()',
      'src/storage/sqlite/writer-worker.ts': 'process.exit(0)',
      'src/features/kb/service.ts': [
        'export function createKb({ fetch, process }: { fetch: typeof globalThis.fetch }) {',
        '  const { setTimeout } = clock',
        '  setTimeout(later)',
        '  const at = new Date(1)',
        '  return { fetch, process: process(at), send: () => fetch(at), now: clock.Date.now() }',
        '  function later() { hoisted() }',
        '}',
        'type Fetch = typeof fetch',
        "throw new Error('process', { cause: hoisted })",
      ].join('\n'),
    },
  },
  {
    rule: 'console is for core/log.ts alone',
    bad: { 'src/app.ts': "\nconsole.log('here')", 'web/main.tsx': 'const x = <a b={console} />' },
    expect: ['src/app.ts:2', 'web/main.tsx:1'],
    good: {
      'src/core/log.ts': "console.error('x')",
      'src/app.ts': 'const f = (console: Log) => console.log()',
    },
  },
  {
    rule: 'SQL stays in store.ts and storage/',
    bad: {
      'src/features/kb/service.ts': [
        'const a = sql`SELECT id\n FROM doc WHERE id = $' + '{id}`',
        "const b = 'INSERT INTO doc VALUES (?)'",
        "const c = 'PRAGMA optimize'",
      ].join('\n'),
    },
    expect: [1, 3, 4].map((n) => `src/features/kb/service.ts:${n}`),
    good: {
      'src/features/kb/store.ts': "const b = 'DELETE FROM doc'",
      'src/storage/migrate.ts': "const b = 'CREATE TABLE a (b)'",
      'src/features/kb/service.ts': "const b = 'select a document from the list'",
    },
  },
  {
    rule: 'the console fetches in web/api alone',
    bad: { 'web/pages/keys.tsx': 'export const load = () => fetch("/console/keys")' },
    expect: ['web/pages/keys.tsx:1'],
    good: { 'web/api.ts': 'fetch("/x")', 'web/api-stream.ts': 'fetch("/x")' },
  },
  {
    rule: 'the console imports types only from src/, and limits',
    bad: {
      'web/api.ts': "import { type App, parse } from '../src/features/apps/model.ts'",
      'web/pages/a.tsx': "import { type App } from '../../src/features/apps/model.ts'",
    },
    expect: ['web/api.ts:1', 'web/pages/a.tsx:1'],
    good: {
      'web/api.ts': "import type { App } from '../src/features/apps/model.ts'",
      'web/pages/a.tsx': "import { APPS_MAX } from '../../src/core/limits/contract.ts'",
      'src/core/limits/contract.ts': 'export const APPS_MAX = 20',
    },
  },
]
