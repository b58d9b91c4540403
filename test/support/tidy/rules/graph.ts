import type { Module } from '../module.ts'
import { isModule } from '../parse.ts'
import type { Rule, Tree } from '../rule.ts'
import type { Finding, SourceFile } from '../tree.ts'
import { isTest, isWorkerEntry } from '../zones.ts'

type Edges = ReadonlyMap<string, readonly string[]>

/** Programs of their own; everything else is imported by one of them, or dead. */
const isEntry = (path: string) =>
  path === 'src/main.ts' ||
  isWorkerEntry(path) ||
  isTest(path) ||
  /^(package\.json|bunfig\.toml)$/.test(path) ||
  /^scripts\/[^/]+$/.test(path) ||
  /(^|\/)fixtures\//.test(path)

/** Files a module names: imports, `new URL('./x', import.meta.url)`, and paths from the root. */
function namedBy(module: Module, paths: ReadonlySet<string>, runtimeOnly: boolean): string[] {
  const imported = module.imports
    .filter(({ typeOnly }) => !(runtimeOnly && typeOnly))
    .flatMap(({ target }) => (target ? [target, `${target}.ts`, `${target}.tsx`] : []))
  const written = runtimeOnly ? [] : module.texts.map(({ text }) => text.replace(/^\.\//, ''))
  return [...imported, ...written].filter((path) => paths.has(path))
}

/** Files that a page, a style sheet or a settings file names in quotes: `src="./main.tsx"`. */
function linkedBy({ path, text }: SourceFile): string[] {
  if (!/\.(html|css|toml|json)$/.test(path)) return []
  const folder = path.slice(0, path.lastIndexOf('/') + 1)
  const quoted = text.matchAll(/["'](?:\.?\/)?([\w./-]+\.(?:ts|tsx|mjs|css|html))["']/g)
  return [...quoted].map((link) => folder + (link[1] ?? ''))
}

function edgesOf({ files, modules }: Tree, runtimeOnly: boolean): Edges {
  const paths = new Set(files.map(({ path }) => path))
  const fromCode = modules.map((module) => {
    return [module.path, namedBy(module, paths, runtimeOnly)] as const
  })
  const fromPages = files
    .filter(({ path }) => !isModule(path))
    .map((file) => [file.path, linkedBy(file)] as const)
  return new Map([...fromPages, ...fromCode])
}

/** One shortest-found cycle for each back edge of a depth-first search. */
function cycles(edges: Edges): string[][] {
  const found: string[][] = []
  const done = new Set<string>()
  const trail: string[] = []
  const visit = (path: string) => {
    const at = trail.indexOf(path)
    if (at >= 0) found.push([...trail.slice(at), path])
    if (at >= 0 || done.has(path)) return
    trail.push(path)
    for (const next of edges.get(path) ?? []) visit(next)
    trail.pop()
    done.add(path)
  }
  for (const path of edges.keys()) visit(path)
  return found
}

/** Before there is a program to reach them from, nothing is dead. */
const isWired = ({ files }: Tree) => files.some(({ path }) => path === 'src/main.ts')

function unreached(tree: Tree): Finding[] {
  const edges = edgesOf(tree, false)
  const seen = new Set<string>()
  const visit = (path: string) => {
    if (seen.has(path)) return
    seen.add(path)
    for (const next of edges.get(path) ?? []) visit(next)
  }
  // What only its own test imports is dead, so tests are no entries for src/ and web/.
  const paths = tree.files.map(({ path }) => path)
  for (const path of paths) if (isEntry(path) && !isTest(path)) visit(path)
  const product = (path: string) => /^(src|web)\//.test(path)
  const dead = paths.filter((path) => product(path) && !seen.has(path) && !isTest(path))
  for (const path of paths) if (isTest(path)) visit(path)
  const idle = paths.filter((path) => /^(test|scripts)\//.test(path) && !seen.has(path))
  return [...dead, ...idle]
    .filter((path) => /\.(ts|tsx|mts|js|mjs|css|html|sql)$/.test(path) && !/\.d\.ts$/.test(path))
    .map((path) => ({ path, line: 1, message: 'is imported by no program: use it or delete it' }))
}

export const graphRules: readonly Rule[] = [
  {
    name: 'imports form no cycle',
    check: (tree) =>
      cycles(edgesOf(tree, true)).map((cycle) => ({
        path: cycle[0] ?? '',
        line: 1,
        message: `import cycle ${cycle.join(' > ')}: move what both need into a third file`,
      })),
  },
  { name: 'every file is used', check: (tree) => (isWired(tree) ? unreached(tree) : []) },
]
