import type { Llm } from '../llm.ts'

export function createOfflineChat(): Llm {
  return {
    name: 'offline',
    async *stream() {
      yield [{ type: 'text', text: 'No language model is connected.' }]
      yield [{ type: 'finish', reason: 'stop', usage: null }]
    },
  }
}
