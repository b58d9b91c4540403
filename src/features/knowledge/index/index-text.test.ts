import { expect, test } from 'bun:test'
import { chunk } from './chunking.ts'
import { headingsOf, indexTextsOf, ownText } from './index-text.ts'

const body = (word: string, times = 20) => `${word}的说明写在这里。`.repeat(times)

test('a text without headings is indexed with its title', () => {
  expect(indexTextsOf('手册', ['正文。'])).toEqual(['手册\n正文。'])
  const text = body('保修', 200)
  const chunks = chunk(text)
  expect(indexTextsOf('手册', chunks)).toEqual(chunks.map((piece) => `手册\n${piece}`))
  expect(indexTextsOf('手册', [])).toEqual([])
})

test('a later chunk of a section is indexed with the headings above it', () => {
  const text = `# 安装\n\n${body('准备')}\n\n## Linux ##\n\n${body('命令', 120)}\n\n# 使用\n\n${body('登录')}`
  const indexTexts = indexTextsOf('手册', chunk(text))
  expect(indexTexts.map((text) => text.split('\n').slice(0, 3))).toEqual([
    ['手册', '安装', '# 安装'],
    ['手册', '安装', 'Linux'],
    ['手册', '安装', 'Linux'],
    ['手册', '安装', 'Linux'],
    ['手册', '使用', '# 使用'],
  ])
})

test('the index text leaves out the overlap with the section before', () => {
  const chunks = chunk(`# 甲\n\n${body('苹果')}\n\n# 乙\n\n${body('香蕉')}`)
  const [first, second] = indexTextsOf('果', chunks)
  expect(chunks[1]).toContain('苹果')
  expect(first).not.toContain('香蕉')
  expect(second).toStartWith('果\n乙\n# 乙\n')
  expect(second).not.toContain('苹果')
})

test('articles are indexed with their numbers and chapters', () => {
  const text = `第一章 总则\n第一条 ${body('目的')}\n第二条 ${body('范围', 120)}`
  const indexTexts = indexTextsOf('条例', chunk(text))
  expect(indexTexts[0]).toStartWith('条例\n第一章 总则\n第一章 总则\n第一条 目的')
  expect(indexTexts[1]).toStartWith('条例\n第一章 总则\n第二条\n第二条 范围')
  expect(indexTexts.at(-1)).toStartWith('条例\n第一章 总则\n第二条\n')
})

test('a comment in code is no heading, and a heading as long as a text is cut', () => {
  const text = `# ${'长'.repeat(900)}\n\n\`\`\`sh\n# 注释\n\`\`\`\n\n${body('命令', 120)}`
  for (const indexText of indexTextsOf('手册', chunk(text))) {
    expect(indexText.split('\n')[1]).toBe('长'.repeat(100))
  }
})

test('repeating texts and texts of headings alone have bounded index texts', () => {
  for (const text of ['# 甲\n'.repeat(3000), '同一句话。'.repeat(3000), '#\n'.repeat(500)]) {
    const chunks = chunk(text)
    const indexTexts = indexTextsOf('题', chunks)
    expect(indexTexts).toHaveLength(chunks.length)
    for (const text of indexTexts) expect(text.length).toBeLessThan(1200)
  }
})

test('Markdown marks are not part of a heading, the sign of C# is', () => {
  for (const [line, heading] of [
    ['# A', 'A'],
    ['  ## A ##', 'A'],
    ['### A #  ', 'A'],
    ['# C#', 'C#'],
    ['# C# ##', 'C#'],
    ['#\tA\t#', 'A'],
    ['# ##', '##'],
    ['#\u3000A \t#\u00a0', 'A'],
  ]) {
    const indexTexts = indexTextsOf('T', chunk(`${line}\n\n${body('文', 200)}`))
    expect(indexTexts[1]?.split('\n').slice(0, 2)).toEqual(['T', heading as string])
  }
})

test('a heading of millions of mixed blanks ends', () => {
  const blanks = Array.from({ length: 4_000_000 }, (_, i) => ' \t\v\f'[(i * 7 + (i >> 3)) % 4])
  const [heading] = headingsOf(`# a${blanks.join('')}b`)
  expect(heading).toMatchObject({ start: 0, level: 1, text: expect.stringMatching(/^a\s+b$/) })
})

test('a chunk that begins a section is shown without the end of the section before', () => {
  const chunks = chunk(`# 甲\n\n${body('甲')}\n\n# 乙\n\n${body('乙', 90)}`)
  const [first = '', second = '', third = ''] = chunks
  expect(second).toContain('甲的说明')
  expect(ownText('', first)).toBe(first)
  expect(ownText(first, second)).toStartWith('# 乙\n')
  expect(second).toEndWith(ownText(first, second))
  // The overlap of one section with itself keeps a sentence whole.
  expect(ownText(second, third)).toBe(third)
  expect(ownText(first, '')).toBe('')
})
