import { expect, test } from 'bun:test'
import type { Agent, OpenedTurn } from '../../features/agent/service.ts'
import { createAsk } from './ask.ts'
import type { Caller } from './tools.ts'

const principal = {
  kind: 'general',
  tenantId: 't',
  keyId: 'k',
  appId: null,
  deviceId: null,
  userId: null,
} as const

test('a caller is shown every eight seconds that a long answer is still at work', async () => {
  let beat = () => {}
  let every = 0
  let stopped = false
  const clock = {
    every(ms: number, task: () => void) {
      every = ms
      beat = task
      return () => {
        stopped = true
      }
    },
  }
  const answered = Promise.withResolvers<void>()
  const turn = {
    channel: 'platform',
    async run(_, emit) {
      await answered.promise
      await emit([{ type: 'llm_end', reply: 'done' }])
      return null
    },
  } as Pick<OpenedTurn, 'channel' | 'run'> as OpenedTurn
  const agent: Pick<Agent, 'openTurn'> = { openTurn: async () => turn }
  let signs = 0
  const caller: Caller = {
    principal,
    signal: new AbortController().signal,
    progress() {
      signs++
    },
    note() {},
    urlOf: () => '',
  }
  const asked = createAsk(agent, clock)({ text: 'x', kb: true }, caller)
  expect(every).toBe(8_000)
  beat()
  beat()
  expect([signs, stopped]).toEqual([2, false])
  answered.resolve()
  expect(await asked).toMatchObject({ reply: 'done' })
  expect(stopped).toBe(true)
})
