import { join } from 'node:path'

/** A text file of the repository; `path` is relative to its root, with forward slashes. */
export interface SourceFile {
  readonly path: string
  readonly text: string
}

/** A line that breaks a rule, and how to fix it. */
export interface Finding {
  readonly path: string
  readonly line: number
  readonly message: string
}

export const show = (finding: Finding): string =>
  `${finding.path}:${finding.line} ${finding.message}`

/** Hand-written files of the repository; all others are generated or data. */
const WRITTEN = [
  '{src,web,test,scripts}/**/*.{ts,tsx,mts,js,mjs,css,html,sql,json,md}',
  'src/storage/released.sha256',
  '{models,.ci}/**/*.md',
  '.ci/run',
  '*.{json,toml,md,lock}',
  '.gitignore',
]
const GENERATED = /(^|\/)(node_modules|dist|data)\//

/** Reads every hand-written file below `root`. */
export async function readTree(root: string): Promise<SourceFile[]> {
  const files = new Map<string, Promise<string>>()
  for (const pattern of WRITTEN) {
    for await (const path of new Bun.Glob(pattern).scan({ cwd: root, dot: true })) {
      if (!GENERATED.test(path)) files.set(path, Bun.file(join(root, path)).text())
    }
  }
  const paths = [...files.keys()].sort()
  return Promise.all(paths.map(async (path) => ({ path, text: (await files.get(path)) ?? '' })))
}
