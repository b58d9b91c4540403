import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { BunPlugin } from 'bun'

const root = join(import.meta.dir, '..')

/** Names of a target: for Bun, for npm packages of that platform, and Bun's npm package. */
export const TARGETS = {
  'linux-x64': { compile: 'bun-linux-x64', arch: 'x64', bun: 'bun-linux-x64' },
  'linux-x64-baseline': {
    compile: 'bun-linux-x64-baseline',
    arch: 'x64',
    bun: 'bun-linux-x64-baseline',
  },
  'linux-arm64': { compile: 'bun-linux-arm64', arch: 'arm64', bun: 'bun-linux-aarch64' },
} as const
export type Target = keyof typeof TARGETS

/** Maps names below the runtime folder to the files that are embedded. */
function nativeFiles(arch: string): Record<string, string> {
  const onnx = join(root, 'node_modules/onnxruntime-node/bin/napi-v6/linux', arch)
  const model = join(root, 'models/default')
  return {
    'vec0.so': join(root, `node_modules/sqlite-vec-linux-${arch}/vec0.so`),
    'onnxruntime_binding.node': join(onnx, 'onnxruntime_binding.node'),
    'libonnxruntime.so.1': join(onnx, 'libonnxruntime.so.1'),
    ...Object.fromEntries(readdirSync(model).map((name) => [`model/${name}`, join(model, name)])),
  }
}

const WEB = join(root, 'dist/web')
/** The apparent folder of the console's files: outside src/ the executable would lose it. */
const WEB_INSIDE = join(root, 'src/web')

/** Names of the console files that scripts/build-web.ts wrote. */
function consoleFiles(): string[] {
  return readdirSync(WEB, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map((entry) => relative(WEB, join(entry.parentPath, entry.name)))
    .sort()
}

/** The character maps that Chinese, Japanese and Korean PDFs name. */
const MAPS = join(root, 'node_modules/pdfjs-dist/cmaps')

/** The source of the module that replaces src/native/embedded-maps.ts. */
function mapsModule(): string {
  const names = readdirSync(MAPS).filter((name) => name.endsWith('.bcmap'))
  const imports = names.map(
    (name, i) => `import m${i} from ${JSON.stringify(join(MAPS, name))} with { type: 'file' }`,
  )
  const entries = names.map((name, i) => `${JSON.stringify(name)}: m${i}`)
  return `${imports.join('\n')}\nexport const embeddedMaps = { ${entries.join(', ')} }`
}

/** The source of the module that replaces src/native/embedded.ts. */
function embeddedModule(native: Record<string, string>): string {
  const hash = new Bun.CryptoHasher('sha256')
  const imports: string[] = []
  const entries: string[] = []
  for (const [index, [name, path]] of Object.entries(native).entries()) {
    const bytes = readFileSync(path)
    hash.update(name).update(bytes)
    const sha256 = new Bun.CryptoHasher('sha256').update(bytes).digest('hex')
    imports.push(`import f${index} from ${JSON.stringify(path)} with { type: 'file' }`)
    const entry = `path: f${index}, size: ${bytes.length}, sha256: '${sha256}'`
    entries.push(`${JSON.stringify(name)}: { ${entry} }`)
  }
  const version = hash.digest('hex').slice(0, 16)
  const web = consoleFiles().map((name, index) => {
    const path = JSON.stringify(join(WEB_INSIDE, name))
    imports.push(`import w${index} from ${path} with { type: 'file' }`)
    return `w${index}`
  })
  const files = `files: { ${entries.join(', ')} }, web: [${web.join(', ')}]`
  return `${imports.join('\n')}
export const embedded = { version: '${version}', ${files} }`
}

// onnxruntime-node requires its addon by a computed path, which no bundler can follow. The
// embedding process gets the extracted path from its parent.
const bindingModule = `const { Tensor } = require('onnxruntime-common')
const { isMainThread } = require('worker_threads')
const addon = { exports: {} }
process.dlopen(addon, process.env.MOONBASE_ONNX_BINDING)
const WARNINGS = 2
let ready = false
exports.binding = addon.exports
exports.initOrt = () => {
  if (ready) return
  ready = true
  addon.exports.initOrtOnce(WARNINGS, Tensor, isMainThread)
}`

function nativePlugin(files: Record<string, string>): BunPlugin {
  return {
    name: 'native-parts',
    setup(build) {
      build.onResolve({ filter: /\/src\/web\// }, ({ path }) => ({ path }))
      build.onLoad({ filter: /\/src\/web\// }, ({ path }) => ({
        contents: readFileSync(join(WEB, relative(WEB_INSIDE, path))),
        loader: 'file',
      }))
      build.onLoad({ filter: /src\/native\/embedded\.ts$/ }, () => ({
        contents: embeddedModule(files),
        loader: 'ts',
      }))
      build.onLoad({ filter: /src\/native\/embedded-maps\.ts$/ }, () => ({
        contents: mapsModule(),
        loader: 'ts',
      }))
      build.onLoad({ filter: /onnxruntime-node\/dist\/binding\.js$/ }, () => ({
        contents: bindingModule,
        loader: 'js',
      }))
    },
  }
}

/**
 * Worker threads are separate entry points. The executable keeps their paths below src/, where
 * `new URL('./storage/sqlite/writer.ts', import.meta.url)` in src/main.ts finds them.
 */
const THREADS = [
  'src/storage/sqlite/writer.ts',
  'src/storage/sqlite/reader.ts',
  'src/audio/encode-worker.ts',
  'src/http/json-worker.ts',
]

export interface Build {
  readonly target: Target
  readonly entry: string
  readonly outfile: string
  /** The Bun inside the executable; by default the running one. */
  readonly runtime?: string
}

/** Required files of a target that are missing on this machine. */
export function missingFiles(target: Target): string[] {
  return Object.values(nativeFiles(TARGETS[target].arch)).filter((path) => !existsSync(path))
}

/**
 * Writes one executable: routes, console, SQLite with its vector extension, ONNX Runtime and the
 * embedding model in one file. The console must have been built before.
 */
export async function buildExecutable({ target, entry, outfile, runtime }: Build): Promise<void> {
  const { compile, arch } = TARGETS[target]
  const result = await Bun.build({
    entrypoints: [entry, ...THREADS.map((path) => join(root, path))],
    root: join(root, 'src'),
    target: 'bun',
    // Identifiers are not shortened: Elysia reads the source of a handler to see what it uses. With
    // short names it assumes a body and consumes it before the handler can.
    minify: { whitespace: true, syntax: true, identifiers: false },
    format: 'esm',
    // Code splitting keeps dynamic imports in separate files, loaded on first use.
    splitting: true,
    // Files keep names and folders, so that the console's folder can be read inside the executable.
    naming: { asset: '[dir]/[name].[ext]' },
    bytecode: true,
    sourcemap: 'inline',
    define: { 'process.env.NODE_ENV': '"production"', BUILT_AT: String(Date.now()) },
    plugins: [nativePlugin(nativeFiles(arch))],
    compile: {
      target: compile,
      outfile,
      ...(runtime ? { executablePath: runtime } : {}),
      // Files of the working folder must neither run as code nor change settings.
      autoloadBunfig: false,
      autoloadDotenv: false,
      autoloadTsconfig: false,
      autoloadPackageJson: false,
    },
  })
  // The executable contains these files; the copies beside it are by-products.
  const cwd = dirname(outfile)
  for (const map of new Bun.Glob('*.map').scanSync({ cwd, absolute: true })) rmSync(map)
  for (const log of result.logs) process.stderr.write(`${log}\n`)
}
