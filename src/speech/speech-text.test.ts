import { expect, test } from 'bun:test'
import { speakable } from './speech-text.ts'

test.each([
  ['你好！', '你好！'],
  ['没有标点', '没有标点'],
  ['**重点**和*斜体*，还有 `code` 与 ~~删除~~', '重点和斜体，还有 code 与 删除'],
  ['# 标题\n\n正文。', '标题。\n正文。'],
  ['- 一\n- 二\n1. 三', '一。\n二。\n1. 三'],
  ['> 引用\n> 第二行', '引用。\n第二行'],
  ['- [x] 做完了', '做完了'],
  ['看[文档](https://example.com/a_(b)?q=1 "t")吧', '看文档吧'],
  ['看[文档](https://example.com/a)吧', '看文档吧'],
  ['![猫的图](https://example.com/cat.png)', '猫的图'],
  ['请看 https://example.com/path?a=1。谢谢', '请看 链接。谢谢'],
  ['<https://example.com>', '链接'],
  ['很好😀👍🏽！👨‍👩‍👧‍👦🇨🇳1️⃣', '很好！1'],
  ['😀', ''],
  ['---\n***\n| 名 | 值 |\n|---|:-:|\n| 甲 | 1 |', '名，值。\n甲，1'],
  ['先这样\n```ts\nconst a = 1\n```\n再那样', '先这样。\n代码请看文字回复。\n再那样'],
  ['```\nunclosed', '代码请看文字回复。'],
  [
    '```\nx\n```\nThat is all. See https://a.example',
    'The code is in the written answer.\nThat is all. See link',
  ],
  ['a <b>bold</b> word<br/>', 'a bold word'],
  ['2 * 3 = 6，snake_case_name', '2 3 = 6，snake_case_name'],
  ['价格 $5，公式 $x^2$', '价格 5，公式 x^2'],
  ['', ''],
  ['\n \n', ''],
])('%j is spoken as %j', (reply, spoken) => {
  expect(speakable(reply, 1_000)).toBe(spoken)
})

test('a reply of code alone has the language of its question', () => {
  expect(speakable('```\nx', 1_000, 'Show me')).toBe('The code is in the written answer.')
})

test('a long reply is cut after a sentence', () => {
  expect(speakable('一二三四五六七八九。'.repeat(20), 95)).toBe('一二三四五六七八九。'.repeat(9))
  expect(speakable('好'.repeat(50), 10)).toBe('好'.repeat(10))
})

test.each(['[', '*', '`', '<a', '|', '![a](', '_a', '# ', '> ', '[a]((', '[a](b "'])(
  'a hostile reply of %j takes no time',
  (part) => {
    expect(typeof speakable(part.repeat(100_000), 10_000)).toBe('string')
  },
  5_000,
)

test.each(['-', '--:', '|--', '- ', '* ', '_', ' ', '=', '\t'])(
  'a line of %j with a word at its end takes no time',
  (part) => {
    expect(speakable(`甲${part.repeat(100_000)}乙`, 1_000_000)).toMatch(/^甲.*乙$/)
    expect(speakable(`${part.repeat(100_000)}乙`, 1_000_000)).toEndWith('乙')
  },
)
