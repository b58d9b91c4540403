import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import createIgnore, { type Ignore } from 'ignore'
import { codeOf } from '../../data-folder/operator-error.ts'

/** Files that say, as git has it, what of their folder is left out. */
const RULES = ['.gitignore', '.moonbaseignore']

/** A file below a folder. */
export interface Found {
  /** Below the folder, with `/`. */
  readonly path: string
  readonly bytes: number
  readonly changedMs: number
}

interface Scope {
  /** The folder of the rules with a `/` at its end; empty for the outermost. */
  readonly base: string
  readonly rules: Ignore
}

/**
 * The files below a folder, in the order of their paths. Leaves out hidden ones, links, what the
 * rules leave out, and what no pattern includes where there are any.
 */
export function filesBelow(folder: string, include: readonly string[]): Found[] {
  const patterns = include.map((text) => ({ text, glob: new Bun.Glob(text) }))
  const isIncluded = (path: string) =>
    patterns.length === 0 || patterns.some(({ text, glob }) => glob.match(nameFor(text, path)))
  const found: Found[] = []

  function walk(base: string, outer: readonly Scope[]): void {
    const entries = readdirSync(join(folder, base), { withFileTypes: true })
    const scopes = [...outer, ...rulesIn(join(folder, base), base)]
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entry.name.startsWith('.')) continue
      const path = base + entry.name
      if (entry.isDirectory() && !isIgnored(scopes, `${path}/`)) walk(`${path}/`, scopes)
      if (!entry.isFile() || isIgnored(scopes, path) || !isIncluded(path)) continue
      // Null for a file that has gone since its folder was read.
      const stat = lstatSync(join(folder, path), { throwIfNoEntry: false })
      if (stat) found.push({ path, bytes: stat.size, changedMs: stat.mtimeMs })
    }
  }

  walk('', [])
  return found
}

/** A pattern without `/` is one of names, in each folder. */
const nameFor = (pattern: string, path: string) =>
  pattern.includes('/') ? path : path.slice(path.lastIndexOf('/') + 1)

function rulesIn(folder: string, base: string): Scope[] {
  const texts = RULES.flatMap((name) => {
    try {
      return [readFileSync(join(folder, name), 'utf8')]
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return []
      throw error
    }
  })
  if (texts.length === 0) return []
  const rules = createIgnore({ ignorecase: false })
  for (const text of texts) rules.add(text)
  return [{ base, rules }]
}

/** The rules of the innermost folder that name the path decide. */
function isIgnored(scopes: readonly Scope[], path: string): boolean {
  for (const { base, rules } of scopes.toReversed()) {
    const { ignored, unignored } = rules.test(path.slice(base.length))
    if (ignored || unignored) return ignored
  }
  return false
}

/** Whether there is nothing of this path; false where nobody can tell. */
export function isGone(folder: string, path: string): boolean {
  try {
    lstatSync(join(folder, path))
    return false
  } catch (error) {
    return ['ENOENT', 'ENOTDIR'].includes(codeOf(error))
  }
}
