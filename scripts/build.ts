// Writes the single executable, and its checksum beside it in SHA256SUMS (for `sha256sum -c`).
//   bun scripts/build.ts                 dist/moonbase for this machine
//   bun scripts/build.ts --target all    dist/release/moonbase-linux-x64 and its siblings
// One target goes by its name; --entry and --outfile take the place of src/main.ts and the default.
import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import {
  type Build,
  buildExecutable,
  missingFiles,
  TARGETS,
  type Target,
} from './build-executable.ts'
import { buildWeb } from './build-web.ts'

const root = join(import.meta.dir, '..')
const names = Object.keys(TARGETS) as Target[]

const { values } = parseArgs({
  options: {
    target: { type: 'string', default: `linux-${process.arch}` },
    entry: { type: 'string', default: join(root, 'src/main.ts') },
    outfile: { type: 'string', default: join(root, 'dist/moonbase') },
  },
})

function plan(): Build[] {
  const { target, entry, outfile } = values
  if (target === 'all') {
    const release = join(root, 'dist/release')
    return names.map((name) => ({ target: name, entry, outfile: `${release}/moonbase-${name}` }))
  }
  const known = names.find((name) => name === target)
  if (!known) fail(`unknown target ${target}; known: ${names.join(', ')}, all`)
  return [{ target: known, entry, outfile }]
}

function fail(text: string): never {
  process.stderr.write(`${text}\n`)
  process.exit(1)
}

/** Packages for another processor are left out by an ordinary installation. */
function installFor(builds: readonly Build[]): void {
  const missing = () => builds.flatMap(({ target }) => missingFiles(target))
  if (missing().length === 0) return
  const install = [
    'install',
    '--frozen-lockfile',
    '--ignore-scripts',
    '--os',
    'linux',
    '--cpu',
    '*',
  ]
  Bun.spawnSync([process.execPath, ...install], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if (missing().length > 0) fail(`not installed: ${missing().join(', ')}`)
}

async function sumOf(path: string): Promise<string> {
  const hash = new Bun.CryptoHasher('sha256')
  for await (const chunk of Bun.file(path).stream()) hash.update(chunk)
  return `${hash.digest('hex')}  ${basename(path)}\n`
}

const builds = plan()
await buildWeb(join(root, 'dist/web'))
installFor(builds)
const sums: string[] = []
for (const build of builds) {
  mkdirSync(dirname(build.outfile), { recursive: true })
  await buildExecutable(build)
  sums.push(await sumOf(build.outfile))
  process.stdout.write(`${build.outfile}\n`)
}
const [first] = builds
if (first) writeFileSync(join(dirname(first.outfile), 'SHA256SUMS'), sums.join(''))
