import { expect } from 'bun:test'
import type { TestApp, TestKey } from './app.ts'

/** An event of a streamed message. */
export type MessageEvent = Readonly<Record<string, unknown>> & { readonly type: string }

/** Asks for messages as a client of Anthropic's API does. */
export function messagesOf(app: Pick<TestApp, 'url'>, { key }: Pick<TestKey, 'key'>) {
  const post = (body: object, headers: Readonly<Record<string, string>> = {}, path = '') =>
    fetch(`${app.url}/v1/messages${path}`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'anthropic-version': '2023-06-01', ...headers },
      body: JSON.stringify(path === '' ? { max_tokens: 100, ...body } : body),
    })
  return {
    post,
    async whole(body: object, headers = {}) {
      const response = await post(body, headers)
      return { response, status: response.status, body: await response.json() }
    },
    async stream(body: object, headers = {}) {
      const response = await post({ ...body, stream: true }, headers)
      const events = eventsOf(await response.text())
      return { response, events, word: walk(events) }
    },
    count: async (body: object) => (await post(body, {}, '/count_tokens')).json(),
  }
}

function eventsOf(text: string): MessageEvent[] {
  return text
    .split('\n\n')
    .filter((frame) => frame !== '')
    .map((frame) => {
      const [, name, data = ''] = /^event: (\w+)\ndata: (.*)$/.exec(frame) ?? []
      const event = JSON.parse(data) as MessageEvent
      expect(event.type).toBe(name as string)
      return event
    })
}

const LETTERS: Readonly<Record<string, string>> = {
  message_start: 'M',
  ping: 'P',
  content_block_start: '[',
  content_block_delta: '.',
  content_block_stop: ']',
  message_delta: 'D',
  message_stop: 'S',
  error: 'E',
}

/** Checks every event of a stream against what may follow it; gives a letter for each. */
function walk(events: readonly MessageEvent[]): string {
  const word = events.map(({ type }) => LETTERS[type] ?? '?').join('')
  expect(word).toMatch(/^MP+(?:\[[.P]*\]|P)*(?:DS|(?:\[[.P]*)?E)$/)
  const starts = events.filter(({ type }) => type === 'content_block_start')
  expect(starts.map(({ index }) => index)).toEqual(starts.map((_, index) => index))
  let open = -1
  for (const { type, index } of events) {
    if (type === 'content_block_start') open += 1
    if (type.startsWith('content_block')) expect(index).toBe(open)
  }
  return word
}
