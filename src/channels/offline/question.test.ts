import { describe, expect, test } from 'bun:test'
import { findArithmetic } from './question.ts'

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
