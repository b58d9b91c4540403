import type { Sample } from './sample.ts'

export const LAYER_SAMPLES: readonly Sample[] = [
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
      'src/features/kb/service.ts': "export { open } from '../../storage/sqlite/db.ts'",
      'src/features/kb/model.ts': "import type { R } from './routes.ts'",
      'src/features/kb/routes.ts': "const x = await import('../apps/model.ts')",
      'src/http/gate.ts': "import { find } from '../features/keys/service.ts'",
      'src/http/sse.ts': "import { surface } from '../surface.ts'",
      'src/surface.ts': "import { main } from '../main.ts'",
      'src/app.ts': "import { type Chat } from './channels/openai/chat.ts'",
    },
    expect: [
      'src/core/a.ts:1',
      'src/storage/db.ts:1',
      'src/channels/openai/chat.ts:1',
      'src/channels/openai/tts.ts:2',
      'src/features/apps/service.ts:1',
      'src/features/kb/service.ts:1',
      'src/features/kb/model.ts:1',
      'src/features/kb/routes.ts:1',
      'src/http/gate.ts:1',
      'src/http/sse.ts:1',
      'src/surface.ts:1',
      'src/app.ts:1',
    ],
    good: {
      'src/main.ts': "import { open } from './storage/sqlite/db.ts'",
      'src/commands/key.ts': "import { open } from '../storage/sqlite/db.ts'",
      'src/features/apps/service.ts': "import type { Kb } from '../kb/service.ts'",
      'src/features/kb/routes.ts':
        "import { a } from './service.ts'\nimport { b } from '../../http/sse.ts'",
      'src/http/gate.ts': "import type { Keys } from '../features/keys/service.ts'",
      'test/api/kb.test.ts': "import { open } from '../../src/storage/sqlite/db.ts'",
    },
  },
  {
    rule: 'a test beside a module stays in its folder',
    bad: { 'src/features/kb/store.test.ts': "import { open } from '../../storage/sqlite/db.ts'" },
    expect: ['src/features/kb/store.test.ts:1'],
    good: {
      'src/features/kb/store.test.ts':
        "import { a } from './store.ts'\nimport { openDb } from '../../../test/support/db.ts'",
    },
  },
  {
    rule: 'elysia stays at the edge',
    bad: { 'src/features/kb/service.ts': "import { t } from 'elysia'" },
    expect: ['src/features/kb/service.ts:1'],
    good: {
      'src/app.ts': "import { openapi } from '@elysiajs/openapi'",
      'src/http/gate.ts': "import { Elysia } from 'elysia'",
      'src/features/kb/routes.ts': "import type { Elysia } from 'elysia'",
    },
  },
  {
    rule: 'drivers stay in their adapters',
    bad: { 'src/features/kb/store.ts': "import { Database } from 'bun:sqlite'" },
    expect: ['src/features/kb/store.ts:1'],
    good: { 'src/storage/sqlite/db.ts': "import { Database } from 'bun:sqlite'" },
  },
]
