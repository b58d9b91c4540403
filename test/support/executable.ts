import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './command.ts'

const PATH = join(ROOT, 'dist', 'moonbase')
const SOURCES = [
  'src/**',
  'web/**',
  'models/default/**',
  'scripts/build*.ts',
  'package.json',
  'bun.lock',
]

/** The product's executable; built when it is missing or older than its sources. */
export async function executable(): Promise<string> {
  const given = process.env.MOONBASE_BIN
  if (given) return given
  if (existsSync(PATH) && statSync(PATH).mtimeMs > newestSource()) return PATH
  const script = join(ROOT, 'scripts', 'build.ts')
  const build = Bun.spawn([process.execPath, script], {
    cwd: ROOT,
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const [err, code] = await Promise.all([new Response(build.stderr).text(), build.exited])
  if (code !== 0) throw new Error(`the build ended with ${code}:\n${err}`)
  return PATH
}

function newestSource(): number {
  const times = SOURCES.flatMap((pattern) =>
    [...new Bun.Glob(pattern).scanSync({ cwd: ROOT })].map(
      (path) => statSync(join(ROOT, path)).mtimeMs,
    ),
  )
  return Math.max(...times)
}
