import { expect, test } from 'bun:test'
import { fakeClock } from '../../../test/support/clock.ts'
import { createModelLists } from './model-list.ts'

test('a list whose request has failed unexpectedly is asked for again', async () => {
  let asked = 0
  const lists = createModelLists({
    store: { get: async () => null } as never,
    seal: null,
    clock: fakeClock(),
    defaultModel: () => null,
    platform: () => ({ baseUrl: 'http://127.0.0.1:1', apiKey: '' }),
    async ask() {
      if (++asked === 1) throw new Error('unexpected')
      return { models: ['m'], chat: ['m'], contexts: new Map(), failure: null }
    },
  })
  await expect(lists.list('tenant')).rejects.toThrow('unexpected')
  expect((await lists.list('tenant')).models).toEqual(['m'])
})
