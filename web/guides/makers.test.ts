import { describe, expect, test } from 'bun:test'
import { marked, type Token, type Tokens } from 'marked'
import { fileOf, partsOf } from '../features/docs/guide.ts'
import { makersGuide } from './makers.ts'

const [zh, en] = await Promise.all([makersGuide('zh'), makersGuide('en')])

const kinds = (markdown: string) => marked.lexer(markdown).map(({ type }) => type)
const codes = (markdown: string) =>
  marked.lexer(markdown).filter((token): token is Tokens.Code => token.type === 'code')
const firstCells = (markdown: string) =>
  marked
    .lexer(markdown)
    .filter((token): token is Tokens.Table => token.type === 'table')
    .map(({ rows }) => rows.map(([first]) => first?.text.replace(/\P{ASCII}/gu, '')))

describe('the guide for makers', () => {
  test('says the same in both languages: parts, code and statuses', () => {
    expect(kinds(zh)).toEqual(kinds(en))
    expect(codes(zh).map(({ text }) => text)).toEqual(codes(en).map(({ text }) => text))
    const statuses = firstCells(en).map((cells) =>
      cells.filter((cell) => /^\d{3}$/.test(cell ?? '')),
    )
    expect(statuses.flat()).toEqual(['400', '401', '403', '410', '413', '429', '502', '503'])
    expect(
      firstCells(zh).map((cells) => cells.filter((cell) => /^\d{3}$/.test(cell ?? ''))),
    ).toEqual(statuses)
    expect(en).not.toMatch(/\p{Script=Han}/u)
  })

  test('carries its programs whole', () => {
    const programs = codes(en).filter((token) => fileOf(token) !== null)
    expect(programs.map((token) => fileOf(token))).toEqual([
      'moonbase-device.ino',
      'moonbase-device.py',
    ])
    expect(programs[0]?.text).toContain('void loop()')
    expect(programs[1]?.text).toEndWith('except KeyboardInterrupt:\n        pass')
    expect(en).not.toContain('{{')
  })

  test('comes in parts that can be linked to', () => {
    const parts = partsOf(en)
    expect(parts[0]?.title).toBeNull()
    expect(parts.slice(1).map(({ title }) => title)).toContain('Raspberry Pi')
    expect(new Set(parts.map(({ id }) => id)).size).toBe(parts.length)
    const tokens = (token: Token) => token.type === 'heading'
    expect(parts.flatMap((part) => part.tokens).filter(tokens)).toEqual([])
  })
})
