import { describe, expect, test } from 'bun:test'
import type { LlmRequest } from '../../upstream/ports/llm.ts'
import { findArithmetic, toolCallsFor } from './question.ts'
import { zoneIn } from './zones.ts'

const found: [text: string, expression: string][] = [
  ['1+1', '1+1'],
  ['1+1等于多少', '1+1'],
  ['请计算 (2+3)*4', '(2+3)*4'],
  ['12乘以12是多少', '12*12'],
  ['100除以8等于多少', '100/8'],
  ['3.5×2=？', '3.5*2'],
  ['２＋３＝', '2+3'],
  ['（２＋３）×４等于几', '(2+3)*4'],
  ['2的10次方是多少', '2^10'],
  ['what is 2^10', '2^10'],
  ['How much is 10 divided by 4', '10 / 4'],
  ['10 plus 5 minus 3', '10 + 5 - 3'],
  ['calculate sqrt(16)+3', 'sqrt(16)+3'],
  ['What is 18% of 240?', '18%*240'],
  ['240 的 18% 是多少？', '240*18%'],
  ['cos(0)', 'cos(0)'],
  ['max(1,2)', 'max(1,2)'],
  ['1,234+1 等于多少', '1,234+1'],
  ['小明想知道 12*12 是多少', '12*12'],
  ['帮我算一下房租 3200*12', '3200*12'],
  ['-3+5', '-3+5'],
]

const notAsked = [
  ...['', '你好', '42', 'hello', '订单号 123-456 什么时候发货', '2024-05-01 开会吗', '2024-05-01'],
  ...['1-3天能到吗', '一加手机多少钱', 'iPhone 15 多少钱', '版本 1.2.3-4 更新了什么', '十分感谢'],
  ...['我有3个苹果，吃了2个，还剩几个', '电话 010-12345678 是多少', 'the 3/4 report'],
  ...['24/7 服务多少钱', '2026-2027年预算是多少', '一些等于多少', '1 2 3'],
  ...['constructor("x")()', 'C++ 和 C# 有什么区别', '- 第一\n- 第二', '...', '((()))', '+++---'],
  ...['1+'.repeat(2_000), '('.repeat(1_999), `计算${'1+'.repeat(300)}1`],
]

describe('findArithmetic', () => {
  test.each(found)('in %p the expression %p is found', (text, expression) => {
    expect(findArithmetic(text)).toBe(expression)
  })

  test.each(notAsked)('in %p no expression is found', (text) => {
    expect(findArithmetic(text)).toBeNull()
  })
})

/** Texts that ask for the time, and the zone that they name. */
const asked: [text: string, zone: string | undefined][] = [
  ['what time is it?', undefined],
  ['What time is it in Tokyo?', 'Asia/Tokyo'],
  ["what's the time in new york right now", 'America/New_York'],
  ['time in Tokyo', 'Asia/Tokyo'],
  ['What is the current time in San Francisco, please?', 'America/Los_Angeles'],
  ['Tell me the current Buenos Aires time', 'America/Argentina/Buenos_Aires'],
  ["what is London's time? what time is it there", 'Europe/London'],
  ['What time is it in Europe/Paris', 'Europe/Paris'],
  ['what time is it in Port-au-Prince', 'America/Port-au-Prince'],
  ['What time is it in Atlantis?', undefined],
  ['What time do I wake up for Monaco grand prix', 'Europe/Monaco'],
  ['What time should I wake up', undefined],
  ['东京现在几点？', 'Asia/Tokyo'],
  ['现在纽约是几点了', 'America/New_York'],
  ['北京时间？', 'Asia/Shanghai'],
  ['现在几点', undefined],
]

describe('the time', () => {
  const call = (text: string) =>
    toolCallsFor(text, { tools: [{ name: 'current_time' }] } as unknown as LlmRequest)

  test.each(asked)('%p asks for it in %p', (text, zone) => {
    const args = zone === undefined ? {} : { time_zone: zone }
    expect(call(text)).toMatchObject([{ name: 'current_time', arguments: JSON.stringify(args) }])
  })

  test('is not looked for in all ways where there are many blanks', () => {
    const blanks = ' '.repeat(20_000)
    expect(zoneIn(`a${blanks}b`)).toBeUndefined()
    expect(zoneIn(`the current${blanks}Tokyo${blanks}time`)).toBe('Asia/Tokyo')
  })

  test.each(['save time in the kitchen', 'I live in Tokyo', '上海的天气', '开会时间', ''])(
    '%p does not ask for it',
    (text) => {
      expect(call(text)).toEqual([])
    },
  )
})
