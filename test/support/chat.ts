import { createOpenAiChat, type OpenAiChatOptions } from '../../src/channels/openai/chat.ts'
import { systemClock } from '../../src/core/clock.ts'
import { createUpstreamFetch } from '../../src/upstream/net/upstream-call.ts'
import { ChannelFailure } from '../../src/upstream/ports/failure.ts'
import type { Llm, LlmPart, LlmRequest } from '../../src/upstream/ports/llm.ts'

export const REQUEST: LlmRequest = {
  purpose: 'turn',
  model: null,
  messages: [{ role: 'user', content: 'hi' }],
  passages: [],
  tools: [],
  thinking: false,
  temperature: null,
}

/** The OpenAI-compatible adapter with defaults for tests. */
export function createChat(baseUrl: string, options: Partial<OpenAiChatOptions> = {}): Llm {
  return createOpenAiChat({
    fetch: createUpstreamFetch(fetch),
    clock: systemClock(),
    baseUrl,
    apiKey: 'sk-test',
    defaultModel: 'fake',
    timeoutMs: 10_000,
    thinkingForm: 'auto',
    inTurn: (work) => work(),
    ...options,
  })
}

/** All parts of one model call; an error is returned instead of thrown. */
export async function collect(
  llm: Llm,
  request: LlmRequest = REQUEST,
  signal = new AbortController().signal,
) {
  const parts: LlmPart[] = []
  let error: unknown = null
  try {
    for await (const item of await llm.open(request, signal)) parts.push(...item)
  } catch (thrown) {
    error = thrown
  }
  return {
    parts,
    error,
    failure: error instanceof ChannelFailure ? error : null,
    text: parts.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    calls: parts.flatMap((part) => (part.type === 'tool_call' ? [part.call] : [])),
    finish: parts.find((part) => part.type === 'finish'),
  }
}
