import { describe, expect, test } from 'bun:test'
import { en } from '../../../web/i18n/en.ts'
import { zh } from '../../../web/i18n/zh.ts'
import type {
  LlmMessage,
  LlmPart,
  LlmRequest,
  Passage,
  ToolCall,
} from '../../upstream/ports/llm.ts'
import { createOfflineChat } from './chat.ts'

const offline = createOfflineChat()
const tool = (name: string) => ({ name, description: name, parameters: {} })
const TOOLS = ['current_time', 'calculator', 'search_knowledge_base', 'fetch_url'].map(tool)
const BASE: LlmRequest = {
  purpose: 'turn',
  model: null,
  messages: [],
  passages: [],
  tools: TOOLS,
  thinking: false,
  temperature: null,
}

async function partsOf(request: Partial<LlmRequest>): Promise<LlmPart[]> {
  const parts: LlmPart[] = []
  const { signal } = new AbortController()
  for await (const batch of await offline.open({ ...BASE, ...request }, signal))
    parts.push(...batch)
  return parts
}

const textOf = (parts: readonly LlmPart[]) =>
  parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
const say = async (content: string, more: Partial<LlmRequest> = {}) =>
  textOf(await partsOf({ messages: [{ role: 'user', content }], ...more }))
const callsOf = async (content: string, more: Partial<LlmRequest> = {}) => {
  const parts = await partsOf({ messages: [{ role: 'user', content }], ...more })
  return parts.flatMap((part) => (part.type === 'tool_call' ? [part.call] : []))
}

/** The second model call of a turn: the tools have answered. */
const afterTools = (content: string, results: [call: Partial<ToolCall>, content: string][]) => {
  const toolCalls = results.map(([call], index) => {
    return { id: `c${index}`, name: '', arguments: '{}', ...call }
  })
  const messages: LlmMessage[] = [
    { role: 'user', content },
    { role: 'assistant', content: '', toolCalls },
    ...results.map(([, result], index) => {
      return { role: 'tool' as const, callId: `c${index}`, content: result }
    }),
  ]
  return { messages }
}

const PASSAGES: Passage[] = [
  { title: '售后手册', seq: 2, text: '整机保修两年。\n电池保修一年。', page: 7, heading: null },
  {
    title: 'Long',
    seq: 0,
    text: '无关的话。'.repeat(100),
    page: null,
    heading: null,
  },
]

describe('offline responder', () => {
  test.each(['讲个故事吧', '你是谁', '🙂 好的'])(
    'the offline responder says in Chinese what it is: %p',
    async (text) => {
      const reply = await say(text)
      expect(reply).toContain('没有连接任何语言模型')
      for (const word of [
        'Ollama',
        'LM Studio',
        'llama.cpp',
        'MB_LLM_BASE_URL',
        'MB_LLM_API_KEY',
      ]) {
        expect(reply).toContain(word)
      }
    },
  )

  test.each(['Tell me a story', 'Bonjour', '?!'])(
    'the offline responder says in English what it is: %p',
    async (text) => {
      const reply = await say(text)
      expect(reply).toContain('No language model is connected')
      expect(reply).toContain('MB_LLM_MODEL')
      expect(reply).not.toMatch(/\p{Script=Han}/u)
    },
  )

  test('the offline responder says what it can do when it cannot answer', async () => {
    for (const text of ['你好', '您好！', '讲个故事吧']) {
      expect(await say(text)).toStartWith('我是 Moonbase 的内置应答器')
    }
    expect(await say('hi')).toStartWith('I am the built-in responder of Moonbase.')
  })

  test('the offline responder refuses no question that the console suggests', async () => {
    for (const [texts, ability] of [
      [zh, '我能做三件事'],
      [en, 'I can do three things'],
    ] as const) {
      const reply = await say(texts['curl.text'])
      expect(reply).toContain(ability)
      expect(reply).not.toMatch(/不会编造|make an answer up/)
      expect(await callsOf(texts['studio.start.time'])).toMatchObject([{ name: 'current_time' }])
      expect(await callsOf(texts['studio.start.sum'])).toMatchObject([{ name: 'calculator' }])
      // Its own examples hold what they promise.
      expect(reply).toContain(texts['studio.start.time'])
      expect(reply).toContain(texts['studio.start.sum'])
    }
    for (const text of ['你好', 'hello!', 'Who are you?']) {
      expect(await say(text)).not.toMatch(/不会编造|make an answer up/)
    }
  })

  test('the offline responder tells how to connect a model where it is asked', async () => {
    const sum = afterTools('1+1等于几', [[{ name: 'calculator' }, '1+1 = 2']])
    const reply = textOf(await partsOf(sum))
    expect(reply).toContain('没有连接任何语言模型')
    expect(reply).not.toContain('MB_LLM_BASE_URL')
    expect(await say('讲个故事吧')).toContain('MB_LLM_BASE_URL')
  })

  test('the offline responder ends its answer with exactly one finish', async () => {
    const parts = await partsOf({ messages: [{ role: 'user', content: '你好 there' }] })
    expect(parts.at(-1)).toEqual({ type: 'finish', reason: 'stop', usage: null })
    expect(parts.filter(({ type }) => type === 'finish')).toHaveLength(1)
  })

  test('the offline responder quotes up to three passages, cut at 400 characters', async () => {
    const many = [...PASSAGES, ...PASSAGES]
    const reply = await say('退货期限是多久', { passages: many })
    expect(reply).toContain('《售后手册》第 3 段（第 7 页）：“整机保修两年。 电池保修一年。”')
    expect(reply).toContain(`《Long》第 1 段：“${'无关的话。'.repeat(80)}…”`)
    expect(reply.match(/^- /gm)).toHaveLength(3)
    // The note is a paragraph of its own, not the end of the last quotation.
    expect(reply).toContain('\n\n以上是原文摘录')
    expect(reply).toContain('没有连接任何语言模型')
    const english = await say('How long is the warranty?', { passages: PASSAGES })
    expect(english).toContain('"售后手册", passage 3 (page 7): "')
    for (const line of english.split('\n')) expect([...line].length).toBeLessThan(440)
  })

  test('the offline responder calls the calculator and answers with its result', async () => {
    const [call] = await callsOf('12乘以12等于多少')
    expect(call).toMatchObject({ name: 'calculator', arguments: '{"expression":"12*12"}' })
    const asked = { name: 'calculator' }
    const reply = textOf(await partsOf(afterTools('12乘以12等于多少', [[asked, '12*12 = 144']])))
    expect(reply).toStartWith('计算结果：12*12 = 144。')
    const failed = textOf(await partsOf(afterTools('1/0等于多少', [[asked, 'Error: secret']])))
    expect(failed).toStartWith('这个算式我算不出来')
    expect(failed).not.toContain('secret')
  })

  const TIMES = [
    '现在几点了',
    '今天星期几？',
    '今天几号',
    '当前时间',
    '今年是哪年',
    'what time is it?',
  ]
  test.each([...TIMES, "What's the date today", 'what day is it'])(
    'the offline responder calls the clock for %p',
    async (t) => {
      expect(await callsOf(t)).toMatchObject([{ name: 'current_time', arguments: '{}' }])
    },
  )

  test('the offline responder passes a named time zone on to the clock', async () => {
    const [call] = await callsOf('Asia/Tokyo 现在几点')
    expect(call?.arguments).toBe('{"time_zone":"Asia/Tokyo"}')
    const clock = '{"iso":"2026-11-22T01:04:05+08:00","time_zone":"Asia/Shanghai"}'
    const tell = async (text: string) =>
      textOf(await partsOf(afterTools(text, [[{ name: 'current_time' }, clock]])))
    expect(await tell('几点了')).toStartWith(
      '现在是 2026年11月22日 星期日 01:04（Asia/Shanghai）。',
    )
    expect(await tell('what time is it')).toStartWith(
      'It is Sunday, November 22, 2026 at 1:04 AM (Asia/Shanghai).',
    )
  })

  test('the offline responder calls several tools in a turn, with distinct ids', async () => {
    const calls = await callsOf('现在几点了？顺便计算 3*4')
    expect(calls.map(({ name }) => name)).toEqual(['calculator', 'current_time'])
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2)
  })

  test('the offline responder calls only offered tools, and each once a turn', async () => {
    expect(await callsOf('1+1等于多少', { tools: [] })).toEqual([])
    expect(await say('现在几点', { tools: [tool('calculator')] })).toContain('没有连接任何语言模型')
    expect(await callsOf('订单号 123-456 发货了吗', { passages: PASSAGES })).toEqual([])
    const again = await partsOf(afterTools('1+1', [[{ name: 'calculator' }, '1+1 = 2']]))
    expect(again.some(({ type }) => type === 'tool_call')).toBe(false)
  })

  test('the offline responder uses tool results of the current question only', async () => {
    const earlier = afterTools('1+1', [[{ name: 'calculator' }, '1+1 = 2']]).messages
    const messages: LlmMessage[] = [
      ...earlier,
      { role: 'assistant', content: '2' },
      { role: 'user', content: '2+2' },
    ]
    const parts = await partsOf({ messages })
    expect(parts[0]).toMatchObject({ type: 'tool_call', call: { name: 'calculator' } })
  })

  test('the offline responder says that it cannot see images', async () => {
    const message = { role: 'user' as const, images: ['https://a.example.com/i.png'] }
    const seen = textOf(await partsOf({ messages: [{ ...message, content: '这是什么' }] }))
    expect(seen).toContain('我看不到图片')
    const english = textOf(await partsOf({ messages: [{ ...message, content: 'What is it' }] }))
    expect(english).toContain('I cannot see images')
  })

  test('the offline responder summarises turns by their first sentences, repeatably', async () => {
    const transcript =
      '已有摘要：\n用户：我叫小明。\n\n对话：\n用户：我住在杭州。喜欢跑步。\n助手：好的！\n第二行\n\n' +
      `用户：${'长'.repeat(100)}\n助手：No language model is connected. More.`
    const request = {
      purpose: 'summary' as const,
      messages: [
        { role: 'system' as const, content: '请总结' },
        { role: 'user' as const, content: transcript },
      ],
    }
    const summary = textOf(await partsOf(request))
    expect(summary.split('\n')).toEqual([
      '用户：我叫小明。',
      '用户：我住在杭州。',
      '助手：好的！',
      `用户：${'长'.repeat(59)}…`,
      '助手：No language model is connected.',
    ])
    expect(textOf(await partsOf(request))).toBe(summary)
  })

  test('a summary of the offline responder is bounded and never empty', async () => {
    const messages = Array.from({ length: 200 }, (_, index): LlmMessage => {
      return { role: index % 2 ? 'assistant' : 'user', content: `第${index}句话。其余。` }
    })
    const summary = textOf(await partsOf({ purpose: 'summary', messages }))
    expect(summary.length).toBeLessThan(900)
    expect(summary).toEndWith('助手：第199句话。')
    expect(textOf(await partsOf({ purpose: 'summary' }))).not.toBe('')
  })

  test('the offline responder does not begin when the signal has aborted', async () => {
    const reason = new Error('client left')
    const opened = offline.open(BASE, AbortSignal.abort(reason))
    expect(await opened.catch((error) => error)).toBe(reason)
  })
})
