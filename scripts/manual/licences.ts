import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Language } from './language.ts'
import { LICENCES, PACKAGE_NOTES, PACKAGE_WORDS } from './licences-words.ts'

const TEXTS = {
  zh: {
    about: 'Moonbase 采用 MIT 许可证。可执行文件里包含下列软件，它们的许可证以各自的软件包为准。',
    used: '直接使用的软件',
    head: '| 软件包 | 许可证 | 用途 |',
    bun: '运行时、打包、SQLite',
    brought: '随之而来的软件',
    lgpl:
      '采用 LGPL 的音频编解码器是单独的 WebAssembly 软件包：换掉软件包，重新构建' +
      '（`npm run build`）即可替换。',
    fonts:
      '公式的字体是 Latin Modern Math 的子集（GUST Font License，即 LaTeX Project Public License 的一种）；' +
      '花体字母的字体来自 Temml（MIT）。',
    lexicon: '向量模型的中英词表由模型自身的向量得出；其中的中文词取自 jieba 的词典（MIT）。',
    building: '只用于构建和测试',
  },
  en: {
    about:
      'Moonbase is under the MIT licence. The executable holds the software below, each under ' +
      'the licence that its package states.',
    used: 'Used directly',
    head: '| Package | Licence | For |',
    bun: 'runtime, bundler, SQLite',
    brought: 'Brought by these',
    lgpl:
      'The audio codecs under the LGPL are WebAssembly in packages of their own: replace the ' +
      'package and build again (`npm run build`).',
    fonts:
      'The font of formulas is a subset of Latin Modern Math (GUST Font License, an instance of ' +
      'the LaTeX Project Public License); that of script letters is of Temml (MIT).',
    lexicon:
      'The lexicon of the embedding model is made of its vectors; the Chinese words are those of ' +
      'the dictionary of jieba (MIT).',
    building: 'For building and testing only',
  },
}

interface Manifest {
  readonly license?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

const read = (path: string): Manifest => JSON.parse(readFileSync(path, 'utf8')) as Manifest

/** Packages depend on the compiler, and Mermaid on a layout; no bundle has them. */
const LEFT_OUT: ReadonlySet<string> = new Set(['typescript', 'elkjs'])
const isCode = (name: string) => !name.startsWith('@types/') && !LEFT_OUT.has(name)

/** The page of dependencies and licences. Throws for a package without a description. */
export function licencesPage(language: Language, root: string): string {
  const text = TEXTS[language]
  const own = read(join(root, 'package.json'))
  const direct = Object.keys(own.dependencies ?? {}).sort()
  const manifest = (name: string): Manifest | null => {
    const path = join(root, 'node_modules', name, 'package.json')
    return existsSync(path) ? read(path) : null
  }
  const licence = (name: string) => manifest(name)?.license ?? LICENCES[name] ?? '?'
  const rows = direct.map((name) => {
    const words = PACKAGE_WORDS[name]
    if (!words) throw new Error(`scripts/manual/licences-words.ts does not say what ${name} is for`)
    const note = PACKAGE_NOTES[name]
    return `| ${name} | ${licence(name)}${note ? ` (${note})` : ''} | ${words[language]} |`
  })
  const brought = reachable(direct, manifest).filter((name) => !direct.includes(name))
  const building = Object.keys(own.devDependencies ?? {}).filter(isCode)
  return [
    '<!-- Written by scripts/manual.ts from package.json and node_modules. -->',
    text.about,
    `\n## ${text.used} {#used}\n`,
    text.head,
    '|---|---|---|',
    `| bun | MIT | ${text.bun} |`,
    ...rows,
    `\n${text.lgpl}`,
    `\n${text.fonts}`,
    `\n${text.lexicon}`,
    `\n## ${text.brought} {#brought}\n`,
    ...byLicence(brought, licence),
    `\n## ${text.building} {#building}\n`,
    ...byLicence(building, licence),
    '',
  ].join('\n')
}

/** All packages that `from` may load; platform packages have the licence of their parent. */
function reachable(from: readonly string[], manifest: (name: string) => Manifest | null) {
  const seen = new Set<string>()
  const visit = (name: string) => {
    const found = isCode(name) && !seen.has(name) ? manifest(name) : null
    if (!found) return
    seen.add(name)
    for (const next of Object.keys({ ...found.dependencies, ...found.peerDependencies })) {
      visit(next)
    }
  }
  for (const name of from) visit(name)
  return [...seen].sort()
}

function byLicence(names: readonly string[], licence: (name: string) => string): string[] {
  const groups = Map.groupBy([...names].sort(), licence)
  return [...groups]
    .sort(([one], [other]) => one.localeCompare(other, 'en'))
    .map(([name, packages]) => `- **${name}**: ${packages.join(', ')}`)
}
