// Builds the console of web/ into dist/web. See --help.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { compile, optimize } from '@tailwindcss/node'
import { Scanner } from '@tailwindcss/oxide'
import { buildFrame } from './build-frame.ts'
import { besideOf, putInPlace } from './put-in-place.ts'
import { readArguments, runScript } from './usage.ts'
import { withoutScrollLock } from './without-scroll-lock.ts'

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
const READ = ['web/**/*.{ts,tsx,css,html,md,py,ino,json,png,woff2}', 'src/core/limits/*.ts']

/** Lists every file that the build reads. */
export async function inputsOfWeb(): Promise<string[]> {
  const scripts = ['build-web', 'build-frame', 'without-scroll-lock']
  const inputs = ['bun.lock', 'package.json', ...scripts.map((name) => `scripts/${name}.ts`)]
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

/** Builds a style sheet with the utility classes that the pages below `folders` use. */
async function styles(sheet: string, folders: readonly string[], fonts: Names): Promise<string> {
  const path = join(web, sheet)
  const compiler = await compile(readFileSync(path, 'utf8'), {
    base: dirname(path),
    onDependency: () => {},
  })
  const sources = folders.map((folder) => ({
    base: join(web, folder),
    pattern: '**/*.tsx',
    negated: false,
  }))
  const { code } = optimize(compiler.build(new Scanner({ sources }).scan()), { minify: true })
  return code.replace(/(?:\.\/)?[\w-]+\.woff2/g, (name) => {
    const font = fonts.get(name.replace('./', ''))
    if (font === undefined) throw new Error(`no font for ${name}`)
    return `/assets/${font}`
  })
}

/** What the page of visitors shows of the console's parts. */
const SHARED = ['features/markdown', 'features/artifacts', 'ui']

/** The fonts of formulas, by the names that Temml's style sheet has for them. */
const FONTS = {
  'latinmodernmath.woff2': 'web/fonts/math.woff2',
  'Temml.woff2': 'node_modules/temml/dist/Temml.woff2',
}

function writeFonts(folder: string): Names {
  const names = new Map<string, string>()
  for (const [name, from] of Object.entries(FONTS)) {
    const bytes = readFileSync(join(root, from))
    const made = `${basename(from, '.woff2').toLowerCase()}-${hashOf(bytes).slice(0, 8)}.woff2`
    writeFileSync(join(folder, made), bytes)
    names.set(name, made)
  }
  return names
}

interface Script {
  readonly name: string
  readonly text: string
  /** Whether the page refers to the file. */
  readonly entry: boolean
}

interface Scripts {
  readonly files: readonly Script[]
  /** What a chat loads of them. */
  readonly ofChat: readonly string[]
}

async function scripts(frame: string, listener: string): Promise<Scripts> {
  const shared = {
    target: 'browser',
    minify: true,
    define: {
      'process.env.NODE_ENV': '"production"',
      FRAME_ADDRESS: JSON.stringify(frame),
      LISTENER_ADDRESS: JSON.stringify(listener),
    },
  } as const
  const naming = '[name]-[hash].[ext]'
  const [pages, theme, shareTheme] = await Promise.all([
    Bun.build({
      ...shared,
      plugins: [withoutScrollLock],
      // Both pages share what both need.
      entrypoints: [join(web, 'main.tsx'), join(web, 'share/chat.ts')],
      splitting: true,
      metafile: true,
      naming: { entry: naming, chunk: 'part-[hash].[ext]' },
    }),
    Bun.build({ ...shared, entrypoints: [join(web, 'theme.ts')], format: 'iife', naming }),
    Bun.build({
      ...shared,
      entrypoints: [join(web, 'share/theme.ts')],
      format: 'iife',
      naming: 'share-[name]-[hash].[ext]',
    }),
  ])
  const files = await Promise.all(
    [pages, theme, shareTheme]
      .flatMap(({ outputs }) => outputs)
      .map(async (output) => ({
        name: basename(output.path),
        text: await output.text(),
        entry: output.kind === 'entry-point',
      })),
  )
  return { files, ofChat: loadedBy(CHAT, pages.metafile?.outputs ?? {}) }
}

/** What a chat begins with, in either language; it imports the rest. */
const CHAT = /^web\/(main\.tsx|pages\/studio\.tsx|i18n\/(\w+-chat|error-words|server-words)\.ts)$/

/** The files with the parts of these names, and all that they import. */
function loadedBy(parts: RegExp, outputs: Bun.BuildMetafile['outputs']): readonly string[] {
  const found = new Set<string>()
  const add = (path: string): void => {
    if (found.has(path)) return
    found.add(path)
    for (const { path: next, kind } of outputs[path]?.imports ?? []) {
      if (kind === 'import-statement') add(next)
    }
  }
  for (const [path, { entryPoint = '' }] of Object.entries(outputs)) {
    if (parts.test(entryPoint)) add(path)
  }
  return [...found].map((path) => basename(path)).sort()
}

/** Writes the script that opens the console while the server is away. */
async function writeWorker(folder: string, html: string, assets: readonly string[]) {
  const ours = assets.map((name) => `/assets/${name}`)
  const { outputs } = await Bun.build({
    entrypoints: [join(web, 'offline/worker.ts')],
    target: 'browser',
    minify: true,
    format: 'iife',
    define: {
      BUILD: JSON.stringify(hashOf(html + ours.join()).slice(0, 8)),
      MAIN: JSON.stringify(/\/assets\/main-\w+\.js/.exec(html)?.[0]),
      ASSETS: JSON.stringify(ours),
    },
  })
  writeFileSync(join(folder, 'sw.js'), (await outputs[0]?.text()) ?? '')
}

/** Writes the script that hears samples beside the page; resolves with its address. */
async function writeListener(folder: string): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [join(web, 'worklets/listener.ts')],
    target: 'browser',
    minify: true,
    format: 'iife',
    naming: '[name]-[hash].[ext]',
  })
  const [output] = outputs
  if (!output) throw new Error('no script hears samples')
  write(folder, basename(output.path), await output.text())
  return `/assets/${basename(output.path)}`
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
async function writeShare(
  folder: string,
  css: string,
  asset: (start: string) => string,
): Promise<void> {
  const from = join(web, 'share')
  const sheet = `share-${hashOf(css).slice(0, 8)}.css`
  write(join(folder, 'assets'), sheet, css)
  const html = readFileSync(join(from, 'chat.html'), 'utf8')
  const named = html
    .replace('./chat.css', `/assets/${sheet}`)
    .replace('./theme.ts', asset('share-theme-'))
    .replace('./chat.ts', asset('chat-'))
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
  const fresh = besideOf(outdir)
  mkdirSync(join(fresh, 'assets'), { recursive: true })
  const frame = await buildFrame(fresh, join(web, 'frame'))
  const listener = await writeListener(join(fresh, 'assets'))
  const fonts = writeFonts(join(fresh, 'assets'))
  const [css, share, { files, ofChat }] = await Promise.all([
    styles('css/app.css', ['.'], fonts),
    styles('share/chat.css', SHARED, fonts),
    scripts(frame, listener),
  ])
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
  const theme = basename(asset('theme-'))
  await writeWorker(fresh, html, [...ofChat, theme, sheet])
  await writeShare(fresh, share, asset)
  writeFileSync(join(fresh, STAMP), stamp)
  putInPlace(fresh, outdir)
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
