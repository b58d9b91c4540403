import type { LlmRequest, ToolCall } from '../ports/llm.ts'
import { type Arithmetic, findArithmetic } from './arithmetic.ts'
import { type Language, languageOf } from './language.ts'

/** What a person said, as far as a responder without a model can tell. */
export interface Question {
  readonly text: string
  readonly language: Language
  readonly hasImages: boolean
  readonly greeting: boolean
  readonly arithmetic: Arithmetic | null
  readonly time: { readonly zone: string | null } | null
}

const GREETING = new RegExp(
  '^(?:你好|您好|嗨|哈喽|哈啰|在吗|在么|早上好|早安|上午好|中午好|下午好|晚上好|晚安|大家好|' +
    'hi|hello|hey|good (?:morning|afternoon|evening|day)|greetings)' +
    '(?:呀|啊|哦|吗|there|moonbase|[\\s,，。.!！~～?？、])*$',
  'i',
)

const TIME = new RegExp(
  [
    '现在(?:是)?(?:什么时[间候]|几点|几时|哪[年天]|几月)|现在的?(?:时间|日期)|几点了|几点钟了',
    '当前的?(?:时间|日期)|今天(?:是)?(?:几号|几月|星期几|周几|礼拜几|什么日子|哪[年天]|多少号)',
    '今天的?日期|今年是?(?:哪|几|多少)年?|(?:今天|现在).{0,6}(?:星期几|周几|礼拜几)|报时',
    "what(?:'s| is)? (?:the )?(?:current )?(?:time|date|day|weekday)" +
      '(?: is it| now| today|\\?|$| in )',
    "current (?:time|date)|today'?s date|what time|what day (?:is|of)|time is it|date today",
  ].join('|'),
  'i',
)

const ZONE = /\b(?:UTC|[A-Z][A-Za-z]+\/[A-Z][A-Za-z_]+(?:\/[A-Z][A-Za-z_]+)?)\b/

/** What was said last; what stands before it is not looked at. */
export function readQuestion(request: LlmRequest): Question {
  const said = request.messages.findLast((message) => message.role === 'user')
  const text = said?.content.trim() ?? ''
  const time = TIME.test(text) ? { zone: ZONE.exec(text)?.[0] ?? null } : null
  return {
    text,
    language: languageOf(text),
    hasImages: said?.role === 'user' && (said.images?.length ?? 0) > 0,
    greeting: GREETING.test(text),
    arithmetic: findArithmetic(text),
    time,
  }
}

/** The calls that answer the question with the tools on offer. */
export function toolCallsFor(question: Question, request: LlmRequest): ToolCall[] {
  const offered = (name: string) => request.tools.some((tool) => tool.name === name)
  const { arithmetic, time } = question
  const calls: Omit<ToolCall, 'id'>[] = []
  if (arithmetic && offered('calculator')) {
    const { expression } = arithmetic
    calls.push({ name: 'calculator', arguments: JSON.stringify({ expression }) })
  }
  if (time && offered('current_time')) {
    const args = time.zone === null ? {} : { time_zone: time.zone }
    calls.push({ name: 'current_time', arguments: JSON.stringify(args) })
  }
  return calls.map((call, index) => ({ ...call, id: `offline_${index + 1}` }))
}

export interface ToolOutcome {
  readonly name: string
  readonly content: string
}

/** Results of the tools that were called for the last thing the person said. */
export function toolOutcomes(request: LlmRequest): ToolOutcome[] {
  const { messages } = request
  const since = messages.slice(messages.findLastIndex((message) => message.role === 'user') + 1)
  const names = new Map<string, string>()
  const outcomes: ToolOutcome[] = []
  for (const message of since) {
    if (message.role === 'assistant') {
      for (const call of message.toolCalls ?? []) names.set(call.id, call.name)
    } else if (message.role === 'tool') {
      outcomes.push({ name: names.get(message.callId) ?? '', content: message.content })
    }
  }
  return outcomes
}
