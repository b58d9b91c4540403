// Writes the single executable dist/moonbase: routes, console, SQLite with its vector extension,
// ONNX Runtime and the embedding model in one file.
//   bun scripts/build.ts [--target linux-x64] [--entry src/main.ts] [--outfile dist/moonbase]
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import type { BunPlugin } from 'bun'
import { buildWeb } from './build-web.ts'

const root = join(import.meta.dir, '..')

/** What a target is called by Bun, by npm packages and by onnxruntime-node. */
const TARGETS = {
  'linux-x64': { compile: 'bun-linux-x64', arch: 'x64' },
  'linux-x64-baseline': { compile: 'bun-linux-x64-baseline', arch: 'x64' },
  'linux-arm64': { compile: 'bun-linux-arm64', arch: 'arm64' },
} as const
type Target = keyof typeof TARGETS

/** Name below the runtime folder, mapped to the file whose bytes go into the executable. */
function nativeFiles(arch: string): Record<string, string> {
  const onnx = join(root, 'node_modules/onnxruntime-node/bin/napi-v6/linux', arch)
  const model = join(root, 'models/default')
  return {
    'vec0.so': join(root, `node_modules/sqlite-vec-linux-${arch}/vec0.so`),
    'onnxruntime_binding.node': join(onnx, 'onnxruntime_binding.node'),
    'libonnxruntime.so.1': join(onnx, 'libonnxruntime.so.1'),
    ...Object.fromEntries(readdirSync(model).map((name) => [`model/${name}`, join(model, name)])),
    ...consoleFiles(),
  }
}

/** The console as scripts/build-web.ts wrote it; built here when it is missing or stale. */
function consoleFiles(): Record<string, string> {
  const web = join(root, 'dist/web')
  const names = readdirSync(web, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map((entry) => relative(web, join(entry.parentPath, entry.name)))
  return Object.fromEntries(names.sort().map((name) => [`web/${name}`, join(web, name)]))
}

/** The module that takes the place of src/native/embedded.ts. */
function embeddedModule(files: Record<string, string>): string {
  const hash = new Bun.CryptoHasher('sha256')
  const imports: string[] = []
  const entries: string[] = []
  for (const [index, [name, path]] of Object.entries(files).entries()) {
    const bytes = readFileSync(path)
    hash.update(name).update(bytes)
    imports.push(`import f${index} from ${JSON.stringify(path)} with { type: 'file' }`)
    entries.push(`${JSON.stringify(name)}: { path: f${index}, size: ${bytes.length} }`)
  }
  const version = hash.digest('hex').slice(0, 16)
  return `${imports.join('\n')}
export const embedded = { version: '${version}', files: { ${entries.join(', ')} } }`
}

// onnxruntime-node requires its addon by a computed path, which no bundler can follow. The embed
// worker learns the extracted path from its parent.
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
      build.onLoad({ filter: /src\/native\/embedded\.ts$/ }, () => ({
        contents: embeddedModule(files),
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
 * Threads are entry points of their own. The executable keeps their place below src/, where
 * `new URL('./storage/sqlite/writer.ts', import.meta.url)` in src/main.ts finds them.
 */
const THREADS = [
  'src/storage/sqlite/writer.ts',
  'src/storage/sqlite/reader.ts',
  'src/audio/decode-worker.ts',
]

const { values } = parseArgs({
  options: {
    target: { type: 'string', default: `linux-${process.arch}` },
    entry: { type: 'string', default: join(root, 'src/main.ts') },
    outfile: { type: 'string', default: join(root, 'dist/moonbase') },
  },
})
const target = TARGETS[values.target as Target]
if (!target) throw new Error(`unknown target; known: ${Object.keys(TARGETS).join(', ')}`)
await buildWeb(join(root, 'dist/web'))
const files = nativeFiles(target.arch)
const missing = Object.values(files).filter((path) => !existsSync(path))
if (missing.length > 0) {
  process.stderr.write(`not installed: ${missing.join(', ')}
for another processor first run: bun install --ignore-scripts --os linux --cpu ${target.arch}\n`)
  process.exit(1)
}
const result = await Bun.build({
  entrypoints: [values.entry, ...THREADS.map((path) => join(root, path))],
  root: join(root, 'src'),
  target: 'bun',
  // Names stay: Elysia reads the source of a handler to see what it uses, and with short names it
  // sees a body where there is none and reads it away before the handler can.
  minify: { whitespace: true, syntax: true, identifiers: false },
  format: 'esm',
  // What is imported when it is used first stays in a file of its own, not loaded before.
  splitting: true,
  bytecode: true,
  sourcemap: 'inline',
  define: { 'process.env.NODE_ENV': '"production"' },
  plugins: [nativePlugin(files)],
  compile: { target: target.compile, outfile: values.outfile },
})
// They are inside the executable already; what lies beside it is a by-product.
for (const map of new Bun.Glob('*.map').scanSync({
  cwd: dirname(values.outfile),
  absolute: true,
})) {
  rmSync(map)
}
for (const log of result.logs) process.stderr.write(`${log}\n`)
process.stdout.write(`${values.outfile}\n`)
