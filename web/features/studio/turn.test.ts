import { describe, expect, test } from 'bun:test'
import { afterEvents, newTurn } from './turn.ts'

const TOLD = { input_tokens: 11, output_tokens: 7, usage_estimated: false }
const turn = newTurn('1', { text: 'q', images: [] }, 1_000)

describe('a turn of the studio', () => {
  test('a studio turn grows by increments and ends with the final text', () => {
    const growing = afterEvents(
      turn,
      [
        { type: 'llm_delta', text: 'Hel' },
        { type: 'llm_delta', text: 'lo' },
      ],
      1_200,
    )
    expect(growing).toMatchObject({ reply: 'Hello', state: 'running', firstMs: 200 })
    const done = afterEvents(
      growing,
      [
        { type: 'stats', iterations: 1, channel: 'platform', ...TOLD },
        { type: 'llm_end', reply: 'Hello!' },
      ],
      1_500,
    )
    expect(done).toMatchObject({ reply: 'Hello!', state: 'done', firstMs: 200, totalMs: 500 })
  })

  test('a studio turn knows that the passages were left out', () => {
    const stats = {
      ...{ type: 'stats' as const, iterations: 1, channel: 'platform' as const },
      ...{ ...TOLD, kb: 'skipped' as const },
    }
    expect(afterEvents(turn, [stats], 1_100).stats?.kb).toBe('skipped')
  })

  test('a fallback clears what the failed channel said in a studio turn', () => {
    const fallen = afterEvents(
      turn,
      [
        { type: 'llm_delta', text: 'half a' },
        { type: 'tool_call', name: 'calculator' },
        { type: 'provider_fallback', from: 'byo', reason: 'upstream_5xx' },
        { type: 'llm_delta', text: 'whole' },
      ],
      1_100,
    )
    expect(fallen).toMatchObject({ reply: 'whole', tools: [], fallback: 'upstream_5xx' })
  })

  test('two calls of one tool in a studio turn end one after the other', () => {
    const used = afterEvents(
      turn,
      [
        { type: 'tool_call', name: 'calculator' },
        { type: 'tool_call', name: 'calculator' },
        { type: 'tool_result', name: 'calculator', ok: false },
      ],
      1_100,
    )
    expect(used.tools.map(({ ok }) => ok)).toEqual([false, null])
  })

  test('a tool that the person did not allow is told as such in a studio turn', () => {
    const nothing = { message: null, schema: null, options: null, url: null, host: null }
    const about = { ...nothing, title: null, arguments: {}, warning: null, expires_at: '' }
    const ask = {
      ...{ type: 'ask' as const, id: 'q', kind: 'approval' as const },
      ...{ server: 'home', tool: 'on', ...about },
    }
    const used = afterEvents(
      turn,
      [
        { type: 'tool_call', name: 'home__on' },
        { type: 'tool_call', name: 'calculator' },
        ask,
        { type: 'ask_done', id: 'q', action: 'decline' },
        { type: 'tool_result', name: 'home__on', ok: false },
        { type: 'tool_result', name: 'calculator', ok: false },
      ],
      1_100,
    )
    expect(used.asks).toEqual([])
    expect(used.tools).toEqual([
      { name: 'home__on', ok: false, declined: true },
      { name: 'calculator', ok: false },
    ])
  })

  test('an error keeps the text of a studio turn and marks the turn', () => {
    const failed = afterEvents(
      turn,
      [
        { type: 'llm_delta', text: 'so far' },
        { type: 'error', message: '出错', code: 'turn_failed' },
      ],
      1_100,
    )
    expect(failed).toMatchObject({ reply: 'so far', fault: { message: '出错' }, state: 'failed' })
  })

  test('a turn that the server knows by a name goes on when the server is stopping', () => {
    const stopping = { type: 'error', message: '正在停止', code: 'server_stopping' } as const
    const named = { type: 'turn', turn_id: 't', session_id: 's' } as const
    expect(afterEvents(turn, [named, stopping], 1_100)).toMatchObject({ state: 'running' })
    expect(afterEvents(turn, [stopping], 1_100)).toMatchObject({ state: 'failed' })
  })
})
