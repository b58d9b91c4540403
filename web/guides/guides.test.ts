import { describe, expect, test } from 'bun:test'
import { marked, type Token, type Tokens } from 'marked'
import { fileOf, partsOf } from '../features/docs/guide-parts.ts'
import { entriesOf, search } from '../features/docs/search.ts'
import { en } from '../i18n/en.ts'
import { zh } from '../i18n/zh.ts'
import { GUIDE_IDS, type GuideId, guidePath } from './pages.ts'
import { readGuide } from './read.ts'

const LANGUAGES = ['zh', 'en'] as const
const pages = await Promise.all(
  GUIDE_IDS.map(async (id) => {
    const [chinese, english] = await Promise.all(LANGUAGES.map((name) => readGuide(id, name)))
    return { id, zh: chinese ?? '', en: english ?? '' }
  }),
)

const kinds = (markdown: string) =>
  marked
    .lexer(markdown)
    .map(({ type }) => type)
    .filter((type) => type !== 'space')
const codes = (markdown: string) =>
  marked.lexer(markdown).filter((token): token is Tokens.Code => token.type === 'code')
const tables = (markdown: string) =>
  marked.lexer(markdown).filter((token): token is Tokens.Table => token.type === 'table')
const ids = (markdown: string) => partsOf(markdown).map(({ id }) => id)

/** Addresses outside the manual. */
const isElsewhere = (path: string) =>
  /^\/(app(\/.*)?|docs\/reference|openapi\.json|status)$/.test(path)

describe.each(pages)('the manual page $id', ({ zh: chinese, en: english }) => {
  test('a manual page has the same parts, tables and code in both languages', () => {
    expect(kinds(chinese)).toEqual(kinds(english))
    expect(ids(chinese)).toEqual(ids(english))
    expect(codes(chinese).map(({ text }) => text)).toEqual(codes(english).map(({ text }) => text))
    const sizes = (text: string) =>
      tables(text).map(({ rows, header }) => [rows.length, header.length])
    expect(sizes(chinese)).toEqual(sizes(english))
  })

  test('a manual page leaves its title to the page that shows it', () => {
    const titles = marked.lexer(english).filter(({ raw }) => /^# /.test(raw))
    expect(titles).toEqual([])
  })

  test('a manual page uses one language on each side', () => {
    expect(english).not.toMatch(/\p{Script=Han}/u)
    expect(chinese).toMatch(/\p{Script=Han}/u)
  })

  test('a manual page gives every part a unique id', () => {
    for (const id of ids(english)) expect(id).toMatch(/^[a-z][a-z0-9-]*$/)
    expect(ids(english)).not.toContainEqual(expect.stringMatching(/^part-/))
    expect(new Set(ids(english)).size).toBe(ids(english).length)
  })

  test('a manual page holds its pictures, the same in both languages', () => {
    const pictures = (text: string) =>
      [...text.matchAll(/!\[[^\]]+\]\((.*)\)/g)].map(([, url]) => url)
    expect(pictures(chinese)).toEqual(pictures(english))
    for (const url of pictures(english)) expect(url).toStartWith('data:image/svg+xml,%3Csvg')
  })

  test('a manual page links to existing places', () => {
    for (const text of [chinese, english]) {
      for (const [, link = ''] of text.matchAll(/\]\((\/[^)]*)\)/g)) {
        const [path = '', part] = link.split('#')
        const target = pages.find(({ id }) => guidePath(id) === path)
        expect([link, target !== undefined || isElsewhere(path)]).toEqual([link, true])
        if (target && part) expect(ids(target.en)).toContain(part)
      }
    }
  })
})

describe('the manual page on devices', () => {
  const devices = pages.find(({ id }) => id === 'devices')?.en ?? ''

  test('the manual page on devices explains each status that a device may meet', () => {
    const first = tables(devices).flatMap(({ rows }) => rows.map(([cell]) => cell?.text ?? ''))
    const statuses = ['400', '401', '403', '410', '413', '429', '502', '503']
    expect(first.filter((cell) => /^\d{3}$/.test(cell))).toEqual(statuses)
  })

  test('the manual page on devices contains its programs whole', () => {
    const programs = codes(devices).filter((token) => fileOf(token) !== null)
    expect(programs.map((token) => fileOf(token))).toEqual([
      'moonbase-device.ino',
      'moonbase-device.py',
    ])
    expect(programs[0]?.text).toContain('void loop()')
    expect(programs[1]?.text).toEndWith('except KeyboardInterrupt:\n        pass')
    expect(devices).not.toContain('{{')
  })

  test('parts of the manual page on devices hold no heading of another part', () => {
    const parts = partsOf(devices)
    expect(parts[0]?.title).toBeNull()
    expect(parts.slice(1).map(({ title }) => title)).toContain('Raspberry Pi')
    const isHeading = (token: Token) => token.type === 'heading'
    expect(parts.flatMap(({ tokens }) => tokens).filter(isHeading)).toEqual([])
  })
})

describe('the search of the manual', () => {
  const entries = (language: 'zh' | 'en') =>
    pages.flatMap((page) =>
      entriesOf(page.id, { zh, en }[language][`guide.${page.id}`], partsOf(page[language])),
    )

  test.each([
    ['en', 'how do I make a backup', 'operate', 'backup'],
    ['en', 'backup', 'operate', 'backup'],
    ['en', 'MB_SIGNUP', 'settings', 'people'],
    ['en', 'ollama', 'ollama', 'key'],
    ['en', 'model on this machine', 'models', 'local'],
    ['en', 'revoked keys', 'apps', 'keys'],
    ['zh', '怎么备份数据', 'operate', 'backup'],
    ['zh', '备份', 'operate', 'backup'],
    ['zh', '激活', 'devices', 'activate'],
    ['zh', '向量模型', 'models', 'embedding'],
    ['zh', '语音包', 'voice', 'pack'],
  ] as const)('%s: %p leads to %s#%s among the first two', (language, query, page, part) => {
    const hits = search<GuideId>(entries(language), query).slice(0, 2)
    expect(hits.map((hit) => `${hit.page}#${hit.part}`)).toContain(`${page}#${part}`)
  })

  test('the manual search marks the searched words and nothing else', () => {
    const [hit] = search(entries('en'), 'prometheus')
    expect(hit?.excerpt.filter((_, index) => index % 2 === 1)).toEqual(['Prometheus'])
  })

  test('the manual search finds nothing for unknown words', () => {
    expect(search(entries('en'), 'zebra crossing')).toEqual([])
    expect(search(entries('zh'), '斑马线')).toEqual([])
    expect(search(entries('en'), '.*+?^()|[]\\')).toEqual([])
  })
})
