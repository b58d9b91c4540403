import { describe, expect, test } from 'bun:test'
import { createOfflineChat } from '../../src/channels/offline/chat.ts'
import { NO_LOG } from '../../src/core/log.ts'
import { createMemoryBudget } from '../../src/core/memory-budget.ts'
import { NO_METERS } from '../../src/core/meters.ts'
import { runModelLoop } from '../../src/features/agent/model-loop.ts'
import { Trace } from '../../src/features/agent/trace.ts'
import { createCalculator } from '../../src/tools/calculator.ts'
import { createCurrentTime } from '../../src/tools/current-time.ts'
import { createToolBox } from '../../src/tools/tool-box.ts'

const now = () => Date.parse('2026-11-21T17:04:05Z')
const tools = [createCurrentTime({ now }), createCalculator()]

async function turn(text: string) {
  const events: { type: string; name?: string; ok?: boolean }[] = []
  const loop = {
    request: {
      purpose: 'turn' as const,
      messages: [{ role: 'user' as const, content: text }],
      passages: [],
      thinking: false,
      temperature: null,
    },
    tools: createToolBox(tools, 'tenant', NO_LOG),
    primary: {
      label: 'platform' as const,
      llm: createOfflineChat(),
      model: null,
      isCurrent: async () => true,
    },
    clientTools: [],
    fallback: null,
    fallbackOnlyWhileSilent: false,
    confirm: async () => {},
    remembered: 0,
    countTokens: () => {},
    share: createMemoryBudget(1_000_000).open('tenant'),
    trace: new Trace(() => 0),
    log: NO_LOG,
    meters: NO_METERS,
  }
  const answer = await runModelLoop(loop, new AbortController().signal, (batch) => {
    events.push(...batch)
    return undefined
  })
  return { answer, events: events.filter(({ type }) => type !== 'llm_delta') }
}

describe('a turn of the offline responder with the built-in tools', () => {
  test('the offline responder evaluates an expression with the calculator', async () => {
    const { answer, events } = await turn('请问 2的10次方 等于多少？')
    expect(events).toMatchObject([
      { type: 'tool_call', name: 'calculator' },
      { type: 'tool_result', name: 'calculator', ok: true },
    ])
    expect(answer.modelCalls).toBe(2)
    expect(answer.text).toStartWith('计算结果：2^10 = 1024。')
  })

  test('the offline responder answers the time of the clock', async () => {
    const { answer } = await turn('现在几点了，今天星期几？')
    const here = new Intl.DateTimeFormat('zh-CN', { dateStyle: 'full', timeStyle: 'short' })
    const text = here.format(now()).replace('日星期', '日 星期')
    expect(answer.text).toStartWith(`现在是 ${text}（${here.resolvedOptions().timeZone}）。`)
  })

  test('the offline responder admits that it cannot evaluate an expression', async () => {
    const { answer, events } = await turn('1/0等于多少')
    expect(events).toContainEqual({ type: 'tool_result', name: 'calculator', ok: false })
    expect(answer.text).toStartWith('这个算式我算不出来')
  })
})
