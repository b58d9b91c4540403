import { describe, expect, test } from 'bun:test'
import { NO_LOG } from '../../core/log.ts'
import { createMemoryBudget } from '../../core/memory-budget.ts'
import { NO_METERS } from '../../core/meters.ts'
import { ChannelFailure } from '../../upstream/ports/failure.ts'
import type { Llm, LlmPart, LlmRequest } from '../../upstream/ports/llm.ts'
import type { TokenUsage } from './call-count.ts'
import type { AgentEvent } from './events.ts'
import type { Channel } from './model-call.ts'
import { type ModelLoop, runModelLoop } from './model-loop.ts'
import { Trace } from './trace.ts'

/** In place of a part: the answer breaks off there. */
const BREAK = 'break'
type Answer = readonly (LlmPart | typeof BREAK)[] | ChannelFailure

const USER = { role: 'user', content: 'hi' } as const
const CALL = { id: 'c1', name: 'clock', arguments: '{}' }
const text = (words: string): LlmPart => ({ type: 'text', text: words })
const usage = (inputTokens: number, outputTokens: number) => ({ inputTokens, outputTokens })
const finish = (
  reason: 'stop' | 'tool_calls' | 'length',
  used: ReturnType<typeof usage> | null = null,
): LlmPart => ({ type: 'finish', reason, usage: used })
const broken = () => new ChannelFailure('provider_error', 'connection broken')
const ROUND: Answer = [text('wait '), { type: 'tool_call', call: CALL }, finish('tool_calls')]

/** A channel whose model gives these answers, one a call. */
function scripted(label: Channel['label'], answers: readonly Answer[]) {
  const requests: LlmRequest[] = []
  const llm: Llm = {
    name: 'scripted',
    async open(request) {
      const answer = answers[requests.length] ?? new ChannelFailure('provider_error', 'no script')
      requests.push(request)
      if (answer instanceof ChannelFailure) throw answer
      return (async function* () {
        yield answer.filter((part) => part !== BREAK)
        if (answer.includes(BREAK)) throw new ChannelFailure('provider_error', 'broken off')
      })()
    },
  }
  const channel: Channel = { label, llm, model: null, isCurrent: async () => true }
  return { channel, requests }
}

function loopOn(primary: Channel, more: Partial<ModelLoop> = {}) {
  const events: AgentEvent[] = []
  const counted: [Channel['label'], TokenUsage][] = []
  const share = createMemoryBudget(1_000_000).open('tenant')
  const loop: ModelLoop = {
    request: {
      purpose: 'turn',
      messages: [USER],
      passages: [],
      thinking: false,
      temperature: null,
    },
    tools: {
      specs: [{ name: 'clock', description: 'Tells the time.', parameters: {} }],
      run: async () => ({ ok: true, content: 'noon' }),
    },
    clientTools: [],
    remembered: 0,
    primary,
    fallback: null,
    fallbackOnlyWhileSilent: false,
    confirm: async () => {},
    countTokens: (channel, tokens) => void counted.push([channel, tokens]),
    share,
    trace: new Trace(() => 0),
    log: NO_LOG,
    meters: NO_METERS,
    ...more,
  }
  const run = () =>
    runModelLoop(loop, new AbortController().signal, (batch) => {
      events.push(...batch)
      return undefined
    })
  return { run, events, share, counted, loop }
}

describe('the model loop', () => {
  test('the model loop gives the text, the finish reason and the usage of all calls', async () => {
    const { channel, requests } = scripted('platform', [
      [text('wait '), { type: 'tool_call', call: CALL }, finish('tool_calls', usage(10, 2))],
      [text('no'), text('on'), finish('length', usage(20, 3))],
    ])
    const { run, events } = loopOn(channel)
    expect(await run()).toEqual({
      channel,
      text: 'wait noon',
      modelCalls: 2,
      finish: 'length',
      clientCalls: [],
      forgot: false,
      model: null,
      usage: { ...usage(30, 5), isEstimated: false },
    })
    expect(requests[1]?.messages).toEqual([
      USER,
      { role: 'assistant', content: 'wait ', toolCalls: [CALL] },
      { role: 'tool', callId: 'c1', content: 'noon' },
    ])
    expect(events.map(({ type }) => type)).toEqual([
      'llm_delta',
      'tool_call',
      'tool_result',
      'llm_delta',
      'llm_delta',
    ])
  })

  test('the model loop estimates a call that reports no usage, and says so', async () => {
    const { channel } = scripted('platform', [
      [text('等等 ok'), { type: 'tool_call', call: CALL }, finish('tool_calls')],
      [text('noon'), finish('stop', usage(20, 3))],
    ])
    const { run, counted } = loopOn(channel)
    // Sent: `hi` and the tools as JSON. Received: two characters, and 3 + 7 of ASCII.
    const tools = '[{"name":"clock","description":"Tells the time.","parameters":{}}]'
    const input = Math.ceil((USER.content.length + tools.length) / 4)
    const first = { ...usage(input, 2 + 3), isEstimated: true }
    expect((await run()).usage).toEqual({ ...usage(input + 20, 5 + 3), isEstimated: true })
    expect(counted).toEqual([
      ['platform', first],
      ['platform', { ...usage(20, 3), isEstimated: false }],
    ])
  })

  test('the tokens of a call that breaks off are counted, too', async () => {
    const primary = scripted('byo', [[text('half'), BREAK]]).channel
    const fallback = scripted('platform_fallback', [[text('noon'), finish('stop', usage(20, 3))]])
    const { run, counted } = loopOn(primary, { fallback: fallback.channel })
    const { usage: all } = await run()
    expect(counted.map(([channel, { outputTokens }]) => [channel, outputTokens])).toEqual([
      ['byo', 1],
      ['platform_fallback', 3],
    ])
    expect([all.outputTokens, all.isEstimated]).toEqual([4, true])
  })

  test('a prompt too long for a model loses old memory before a fallback is asked', async () => {
    const tooLong = new ChannelFailure('upstream_4xx', 'HTTP 400', { contextExceeded: true })
    const primary = scripted('byo', [tooLong, [text('noon'), finish('stop')]])
    const fallback = scripted('platform_fallback', [])
    const messages = [USER, ...['a', 'b', 'c', 'd'].map((content) => ({ ...USER, content })), USER]
    const { loop, run } = loopOn(primary.channel, { fallback: fallback.channel, remembered: 4 })
    Object.assign(loop.request, { messages })
    expect(await run()).toMatchObject({ text: 'noon', modelCalls: 1, forgot: true })
    const sent = primary.requests.at(-1)?.messages.map(({ content }) => content)
    expect(sent).toEqual([USER.content, 'c', 'd', USER.content])
    expect(fallback.requests).toEqual([])
  })

  test("a caller's own messages are never left out of a prompt that is too long", async () => {
    const tooLong = new ChannelFailure('upstream_4xx', 'HTTP 400', { contextExceeded: true })
    const { channel, requests } = scripted('platform', [tooLong])
    const { loop, run } = loopOn(channel)
    Object.assign(loop.request, { messages: [USER, USER, USER] })
    expect(await run().catch((error: unknown) => error)).toBe(tooLong)
    expect(requests.length).toBe(1)
  })

  test('a call that was never answered counts no tokens', async () => {
    const { run, counted } = loopOn(scripted('platform', []).channel)
    await expect(run()).rejects.toThrow('no script')
    expect(counted).toEqual([])
  })

  test('the model loop asks before each model call and tool round whether to go on', async () => {
    const order: string[] = []
    const step = <Result>(name: string, result: Result): Result => {
      order.push(name)
      return result
    }
    const { channel } = scripted('platform', [ROUND, [text('noon'), finish('stop')]])
    const { open } = channel.llm
    const llm: Llm = { name: 'watched', open: (...call) => step('model', open(...call)) }
    const tools = {
      specs: [],
      run: async () => step('tool', { ok: true, content: 'noon' }),
    }
    const confirm = async () => void order.push('confirm')
    await loopOn({ ...channel, llm }, { confirm, tools }).run()
    expect(order).toEqual(['confirm', 'model', 'confirm', 'tool', 'confirm', 'model'])
  })

  test.each([1, 2, 3])(
    'the model loop takes no further step when question %d is answered with no',
    async (no) => {
      let rounds = 0
      const { channel, requests } = scripted('platform', [ROUND, [text('noon'), finish('stop')]])
      const tools = {
        specs: [],
        async run() {
          rounds++
          return { ok: true, content: '' }
        },
      }
      let asked = 0
      const confirm = async () => {
        if (++asked === no) throw new Error('revoked')
      }
      await expect(loopOn(channel, { confirm, tools }).run()).rejects.toThrow('revoked')
      expect([requests.length, rounds]).toEqual(
        [
          [0, 0],
          [1, 0],
          [1, 1],
        ][no - 1] ?? [],
      )
    },
  )

  const LAMP = { name: 'lamp', description: '', parameters: {} }
  const LAMP_CALL = { id: 'c2', name: 'lamp', arguments: '{"on":true}' }

  test('the model loop ends at the calls of a client tool', async () => {
    const answers = [
      [text('wait '), { type: 'tool_call', call: LAMP_CALL }, finish('tool_calls')] as const,
    ]
    const { channel, requests } = scripted('platform', answers)
    const { run, events } = loopOn(channel, { clientTools: [LAMP] })
    expect(await run()).toMatchObject({ text: 'wait ', clientCalls: [LAMP_CALL], modelCalls: 1 })
    expect(requests[0]?.tools.map(({ name }) => name)).toEqual(['clock', 'lamp'])
    expect(events.map(({ type }) => type)).toEqual(['llm_delta'])
  })

  test('the model loop drops client calls beside its own, and asks again', async () => {
    const both = [LAMP_CALL, CALL].map((call): LlmPart => ({ type: 'tool_call', call }))
    const { channel, requests } = scripted('platform', [
      [...both, finish('tool_calls')],
      [text('noon'), finish('stop')],
    ])
    const { run, events } = loopOn(channel, { clientTools: [LAMP] })
    expect(await run()).toMatchObject({ text: 'noon', clientCalls: [], modelCalls: 2 })
    expect(requests[1]?.messages.slice(1)).toEqual([
      { role: 'assistant', content: '', toolCalls: [CALL] },
      { role: 'tool', callId: 'c1', content: 'noon' },
    ])
    expect(events).toContainEqual({ type: 'tool_call', name: 'clock', arguments: '{}' })
    expect(JSON.stringify(events)).not.toContain('lamp')
  })

  test('the model loop forces a tool in the first call of each channel only', async () => {
    const primary = scripted('byo', [ROUND, broken()])
    const fallback = scripted('platform_fallback', [ROUND, [text('noon'), finish('stop')]])
    const { request } = loopOn(primary.channel).loop
    const more = { fallback: fallback.channel, request: { ...request, forcedTool: 'required' } }
    await loopOn(primary.channel, more as Partial<ModelLoop>).run()
    for (const { requests } of [primary, fallback]) {
      expect(requests.map(({ forcedTool }) => forcedTool)).toEqual(['required', undefined])
    }
  })

  test.each([
    ['takes over', 'before', [broken()], 'platform_fallback'],
    ['does not take over', 'after', [ROUND, broken()], null],
  ] as const)(
    'a fallback that is only for silence %s %s the first text',
    async (_does, _when, answers, label) => {
      const fallback = scripted('platform_fallback', [[text('noon'), finish('stop')]]).channel
      const more = { fallback, fallbackOnlyWhileSilent: true }
      const { run, events } = loopOn(scripted('byo', answers).channel, more)
      const answered = await run().catch((error: unknown) => error)
      if (label) expect(answered).toMatchObject({ channel: { label }, text: 'noon' })
      else expect(answered).toBeInstanceOf(ChannelFailure)
      expect(events.some(({ type }) => type === 'provider_fallback')).toBe(label !== null)
    },
  )

  test('the model loop counts held bytes, and forgets those of a failed channel', async () => {
    const primary = scripted('byo', [ROUND, broken()]).channel
    const fallback = scripted('platform_fallback', [[text('noon'), finish('stop')]]).channel
    const { run, share, events } = loopOn(primary, { fallback })
    expect((await run()).channel).toBe(fallback)
    expect(share.bytes).toBe(2 * 'noon'.length)
    expect(events.map(({ type }) => type)).toContain('provider_fallback')
  })
})
