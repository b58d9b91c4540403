import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { en } from './en.ts'
import { zh } from './zh.ts'

const root = join(import.meta.dir, '..')

async function sources(): Promise<string> {
  const texts: string[] = []
  for await (const path of new Bun.Glob('**/*.{ts,tsx}').scan(root)) {
    // The shared chat page is small, so its few words stand with it.
    if (/^(i18n\/|share\/words)/.test(path) || path.includes('.test.')) continue
    texts.push(await Bun.file(join(root, path)).text())
  }
  return texts.join('\n')
}

/** `home.${id}.go` in the source uses every key of that shape. */
const shapesOf = (source: string) =>
  [...source.matchAll(/`([a-z]+\.[\w.]*\$\{[^`]*)`/g)].map(([, shape = '']) => {
    const parts = shape.split(/\$\{[^}]*\}/).map((part) => part.replaceAll('.', '\\.'))
    return new RegExp(`^${parts.join('[\\w.]+')}$`)
  })

const holes = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([hole]) => hole).sort()

/** How many, and of what. */
const COUNTED =
  /\{(?:count|days|docs|errors|keys|devices|shares|members|documents|pages|parts|all)\} ((?!is|was|has)[a-z]+s)\b/

/** Of these there are several whenever it is said. */
const PLURAL: ReadonlySet<string> = new Set([
  ...['app.shares.after', 'kb.delete.several', 'kb.state.reading.pages'],
  ...['overview.uptime.days', 'studio.wished', 'tools.room.many'],
])

describe('texts of the console', () => {
  const keys = Object.keys(zh) as (keyof typeof zh)[]

  test('console texts have the same keys in both languages', () => {
    expect(Object.keys(en).sort()).toEqual([...keys].sort())
  })

  test('console texts are never empty and fill in the same values', () => {
    expect(keys.filter((key) => !zh[key].trim() || !en[key].trim())).toEqual([])
    expect(keys.filter((key) => holes(en[key]).join() !== holes(zh[key]).join())).toEqual([])
  })

  test('console texts in English have no Chinese, and those in Chinese have some', () => {
    const han = /\p{Script=Han}/u
    expect(keys.filter((key) => han.test(en[key]))).toEqual([])
    const neutral = new Set([
      ...['logs.app', 'kb.docs.count', 'guide.mcp', 'apps.collections.one', 'usage.source.api'],
      ...[
        'nav.webhooks',
        'transfer.kind.webhook',
        'hooks.format.json',
        'door.chat',
        'door.mcp',
        'door.messages',
      ],
      ...['door.ollama', 'door.responses', 'door.wyoming'],
      ...['system.summary', 'system.choice.minimax', 'schedules.says.zone', 'kb.bulk.failure'],
    ])
    expect(keys.filter((key) => !han.test(zh[key]) && !neutral.has(key))).toEqual([])
  })

  test('a number in an English text stands beside no noun of which there may be one', () => {
    const alone = keys.flatMap((key) => {
      const [, noun = ''] = COUNTED.exec(en[key]) ?? []
      return noun === '' || PLURAL.has(key) ? [] : [`${key}: ${noun}`]
    })
    expect(alone).toEqual([])
  })

  test('words of a list are set apart as the language does it', async () => {
    expect((await sources()).match(/.*\.join\('[,;] '\).*/g) ?? []).toEqual([])
  })

  test('no key of the console texts is unused', async () => {
    const source = await sources()
    const shapes = shapesOf(source)
    const unused = keys.filter(
      (key) => !source.includes(`'${key}'`) && !shapes.some((shape) => shape.test(key)),
    )
    expect(unused).toEqual([])
  })

  test('pages of the console hold no sentence of their own in either language', async () => {
    const source = (await sources()).replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
    // What an old browser is told before any text is loaded, and names of the language.
    const own = ['浏览器版本过旧', '请更新', '中文', '中文', '中文', '中文', '中文']
    expect([...source.matchAll(/\p{Script=Han}+/gu)].map(String)).toEqual(own)
    expect(source.match(/>\s*[A-Z][a-z]+ [a-z]+[^<{]*</g) ?? []).toEqual([])
  })
})
