import { userMessage } from './prompt.ts'
import type { Conversation, TurnRequest } from './turn-config.ts'

/** The question of a talk that is stored nowhere, with what was said before. */
export function temporaryTurn(
  asks: Pick<TurnRequest, 'text' | 'images'>,
  earlier: readonly { readonly text: string; readonly reply: string }[],
): Pick<TurnRequest, 'conversation' | 'temporary'> {
  const before = earlier.flatMap(({ text, reply }) => [
    userMessage(text, []),
    { role: 'assistant', content: reply } as const,
  ])
  const conversation: Conversation = {
    context: '',
    temperature: null,
    thinking: null,
    messages: [...before, userMessage(asks.text, asks.images)],
    clientTools: [],
    toolChoice: 'auto',
    sampling: {},
    showThinking: false,
    fallbackOnlyWhileSilent: false,
  }
  return { conversation, temporary: true }
}
