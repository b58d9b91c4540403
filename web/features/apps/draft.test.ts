import { expect, test } from 'bun:test'
import type { App } from '../../api/types.ts'
import { draftOf, inputOf } from './draft.ts'

const app: App = {
  id: 'a',
  name: 'a',
  system_prompt: null,
  persona_id: null,
  model: null,
  temperature: null,
  kb_enabled: true,
  tools_enabled: null,
  collections: null,
  memory: null,
  ...{ icon: null, description: null, greeting: null, starters: [] },
  ...{ thinking: null, reminders: null, may_ask: null },
  created_at: '2026-11-23T12:00:00.000Z',
}

test.each([null, true, false])(
  'an app that is saved as it was read keeps its switches: %p',
  (on) => {
    const before = { ...app, thinking: on, reminders: on, may_ask: on }
    const { id: _, created_at: __, ...fields } = before
    expect(inputOf(draftOf(before))).toEqual(fields)
  },
)
