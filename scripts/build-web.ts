// Builds the console of web/ into dist/web. See --help.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { compile, optimize } from '@tailwindcss/node'
import { Scanner } from '@tailwindcss/oxide'
import { readArguments, runScript } from './usage.ts'

const HELP = `Builds the console of web/: hashed assets, each also compressed with gzip and brotli,
and the index.html that names them. Does nothing when no input changed since the last build.

  bun scripts/build-web.ts [--outdir FOLDER] [--force]

  --outdir FOLDER   output folder (dist/web)
  --force           build even when no input changed
`

const root = join(import.meta.dir, '..')
const web = join(root, 'web')
const page = 'web/index.html'
const STAMP = '.stamp'

const hashOf = (text: string | Uint8Array) =>
  new Bun.CryptoHasher('sha256').update(text).digest('hex')

/** Two patterns, because Bun's glob fails on braces that hold braces and folders. */
const READ = ['web/**/*.{ts,tsx,css,html,md,py,ino,json,png}', 'src/core/limits/*.ts']

/** Lists every file that the build reads. */
export async function inputsOfWeb(): Promise<string[]> {
  const inputs = ['bun.lock', 'package.json', 'scripts/build-web.ts']
  for (const pattern of READ) {
    for await (const path of new Bun.Glob(pattern).scan(root)) {
      if (!path.includes('.test.')) inputs.push(path)
    }
  }
  return inputs.sort()
}

async function stampOf(): Promise<string> {
  const hash = new Bun.CryptoHasher('sha256')
  for (const path of await inputsOfWeb()) hash.update(path).update(readFileSync(join(root, path)))
  return hash.digest('hex')
}

/** Builds the style sheet with the utility classes that the pages use. */
async function styles(): Promise<string> {
  const path = join(web, 'css/app.css')
  const compiler = await compile(readFileSync(path, 'utf8'), {
    base: join(web, 'css'),
    onDependency: () => {},
  })
  const scanner = new Scanner({ sources: [{ base: web, pattern: '**/*.tsx', negated: false }] })
  return optimize(compiler.build(scanner.scan()), { minify: true }).code
}

interface Script {
  readonly name: string
  readonly text: string
  /** Whether the page refers to the file. */
  readonly entry: boolean
}

async function scripts(): Promise<Script[]> {
  const shared = {
    target: 'browser',
    minify: true,
    define: { 'process.env.NODE_ENV': '"production"' },
  } as const
  const naming = '[name]-[hash].[ext]'
  const [main, theme, chat] = await Promise.all([
    Bun.build({
      ...shared,
      entrypoints: [join(web, 'main.tsx')],
      splitting: true,
      naming: { entry: naming, chunk: 'part-[hash].[ext]' },
    }),
    Bun.build({ ...shared, entrypoints: [join(web, 'theme.ts')], format: 'iife', naming }),
    Bun.build({ ...shared, entrypoints: [join(web, 'share/chat.ts')], format: 'iife', naming }),
  ])
  return Promise.all(
    [...main.outputs, ...theme.outputs, ...chat.outputs].map(async (output) => ({
      name: output.path.replace(/^.*\//, ''),
      text: await output.text(),
      entry: output.kind === 'entry-point',
    })),
  )
}

/** Names of built files by names in the repository. */
type Names = ReadonlyMap<string, string>

/** Writes the icons and the manifest, for browsers that install the console. */
function installable(folder: string): Names {
  const names = new Map<string, string>()
  for (const icon of new Bun.Glob('*.png').scanSync(join(web, 'icons'))) {
    const bytes = readFileSync(join(web, 'icons', icon))
    const name = icon.replace('.png', `-${hashOf(bytes).slice(0, 8)}.png`)
    writeFileSync(join(folder, name), bytes)
    names.set(icon, name)
  }
  const manifest = named(readFileSync(join(web, 'manifest.json'), 'utf8'), names)
  const name = `manifest-${hashOf(manifest).slice(0, 8)}.json`
  write(folder, name, manifest)
  return names.set('manifest.json', name)
}

/** Replaces each name by that of the built file. */
const named = (text: string, names: Names): string =>
  [...names].reduce((changed, [from, to]) => changed.replaceAll(from, to), text)

function write(folder: string, name: string, text: string): void {
  const bytes = new TextEncoder().encode(text)
  const path = join(folder, name)
  writeFileSync(path, bytes)
  writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }))
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11 }
  writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params }))
}

/** Writes the chat page for visitors of a share, and the script that embeds it in a site. */
async function writeShare(folder: string, script: string): Promise<void> {
  const from = join(web, 'share')
  const css = optimize(readFileSync(join(from, 'chat.css'), 'utf8'), { minify: true }).code
  const sheet = `share-${hashOf(css).slice(0, 8)}.css`
  write(join(folder, 'assets'), sheet, css)
  const html = readFileSync(join(from, 'chat.html'), 'utf8')
  const named = html.replace('./chat.css', `/assets/${sheet}`).replace('./chat.ts', script)
  writeFileSync(join(folder, 'share.html'), named)
  const { outputs } = await Bun.build({
    entrypoints: [join(from, 'widget.ts')],
    target: 'browser',
    minify: true,
    format: 'iife',
  })
  writeFileSync(join(folder, 'widget.js'), (await outputs[0]?.text()) ?? '')
}

/** Builds into `outdir`; resolves with false when it was up to date. */
export async function buildWeb(outdir: string, force = false): Promise<boolean> {
  const stamp = await stampOf()
  const done = join(outdir, STAMP)
  if (!force && existsSync(done) && readFileSync(done, 'utf8') === stamp) return false
  const fresh = `${outdir}.${process.pid}.tmp`
  rmSync(fresh, { recursive: true, force: true })
  mkdirSync(join(fresh, 'assets'), { recursive: true })
  const [css, files] = await Promise.all([styles(), scripts()])
  const sheet = `app-${hashOf(css).slice(0, 8)}.css`
  for (const { name, text } of files) write(join(fresh, 'assets'), name, text)
  write(join(fresh, 'assets'), sheet, css)
  const asset = (start: string) => {
    const found = files.find(({ name, entry }) => entry && name.startsWith(start))
    if (!found) throw new Error(`the bundle has no ${start}`)
    return `/assets/${found.name}`
  }
  const names = installable(join(fresh, 'assets'))
  const html = named(readFileSync(join(root, page), 'utf8'), names)
    .replaceAll('href="./icons/', 'href="/assets/')
    .replace('href="./manifest-', 'href="/assets/manifest-')
    .replace('./theme.ts', asset('theme-'))
    .replace('./css/app.css', `/assets/${sheet}`)
    .replace('./main.tsx', asset('main-'))
  write(fresh, 'index.html', html)
  await writeShare(fresh, asset('chat-'))
  writeFileSync(join(fresh, STAMP), stamp)
  rmSync(outdir, { recursive: true, force: true })
  renameSync(fresh, outdir)
  return true
}

async function main(args: string[]): Promise<void> {
  const { values } = readArguments({
    args,
    options: {
      outdir: { type: 'string', default: join(root, 'dist/web') },
      force: { type: 'boolean', default: false },
    },
  })
  const built = await buildWeb(values.outdir, values.force)
  if (built) process.stderr.write('moonbase: console built\n')
}

if (import.meta.main) await runScript(HELP, main)
