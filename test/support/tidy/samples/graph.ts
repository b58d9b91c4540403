import type { Sample } from './sample.ts'

export const GRAPH_SAMPLES: readonly Sample[] = [
  {
    rule: 'imports form no cycle',
    bad: {
      'src/core/a.ts': "import { b } from './b.ts'",
      'src/core/b.ts': "import './c.ts'",
      'src/core/c.ts': "export { a } from './a.ts'",
    },
    expect: ['src/core/a.ts:1'],
    good: {
      'src/core/a.ts': "import { b } from './b.ts'",
      'src/core/b.ts': "import type { A } from './a.ts'",
    },
  },
  {
    rule: 'every file is used',
    bad: {
      'src/main.ts': "import './app.ts'",
      'src/app.ts': "import page from '../web/index.html'",
      'src/core/dead.ts': '',
      'src/core/dead.test.ts': "import './dead.ts'",
      'src/storage/migrations/0001-init.sql': '',
      'web/index.html': '<script src="./main.tsx"></script>',
      'web/main.tsx': '',
      'web/old.tsx': '',
      'test/support/idle.ts': '',
    },
    expect: [
      'src/core/dead.ts:1',
      'src/storage/migrations/0001-init.sql:1',
      'web/old.tsx:1',
      'test/support/idle.ts:1',
    ],
    good: {
      'src/main.ts': "new Worker(new URL('./storage/queue.ts', import.meta.url))",
      'src/storage/queue.ts': "import type { A } from './db.ts'",
      'src/storage/db.ts': "import init from './migrations/0001-init.sql' with { type: 'text' }",
      'src/storage/migrations/0001-init.sql': '',
      'src/audio/child.ts': '',
      'scripts/build.ts': "spawn('./test/support/smoke.ts')",
      'test/support/smoke.ts': '',
      'bunfig.toml': 'preload = ["./test/support/preload.ts"]',
      'test/support/preload.ts': '',
    },
  },
]
