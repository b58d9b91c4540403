// `npm run build`: writes the single executable. See --help.
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import {
  type Build,
  buildExecutable,
  missingFiles,
  TARGETS,
  type Target,
} from './build-executable.ts'
import { buildWeb } from './build-web.ts'
import { readArguments, runScript, UsageError } from './usage.ts'

const root = join(import.meta.dir, '..')
const names = Object.keys(TARGETS) as Target[]

const HELP = `Writes the single executable, and its checksum beside it in SHA256SUMS.

  npm run build                         dist/moonbase for this machine
  npm run build -- --target all         dist/release/moonbase-linux-x64 and its siblings

  --target NAME    ${names.join(', ')} or all
  --outfile FILE   output file of a single target (dist/moonbase)
  --entry FILE     entry module (src/main.ts)
`

function plan(args: string[]): Build[] {
  const { values } = readArguments({
    args,
    options: {
      target: { type: 'string', default: `linux-${process.arch}` },
      entry: { type: 'string', default: join(root, 'src/main.ts') },
      outfile: { type: 'string', default: join(root, 'dist/moonbase') },
    },
  })
  const { target, entry, outfile } = values
  if (target === 'all') {
    const release = join(root, 'dist/release')
    return names.map((name) => ({ target: name, entry, outfile: `${release}/moonbase-${name}` }))
  }
  const known = names.find((name) => name === target)
  if (!known)
    throw new UsageError(`there is no target "${target}"; there are ${names.join(', ')}, all`)
  return [{ target: known, entry, outfile }]
}

/** Installs packages for another platform, which an ordinary installation skips. */
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
  if (missing().length === 0) return
  process.stderr.write(`not installed: ${missing().join(', ')}\n`)
  process.exit(1)
}

/**
 * Bun for another platform. Bun would download it unverified; npm verifies it with the hashes of
 * scripts/toolchain/targets. `--force` lets npm install packages of another platform.
 */
function runtimeOf(target: Target): { readonly runtime?: string } {
  if (target === `linux-${process.arch}`) return {}
  const folder = join(root, '.toolchain/targets')
  mkdirSync(folder, { recursive: true })
  for (const name of ['package.json', 'package-lock.json']) {
    copyFileSync(join(root, 'scripts/toolchain/targets', name), join(folder, name))
  }
  const install = ['npm', 'ci', '--force', '--ignore-scripts', '--no-audit', '--no-fund']
  const { exitCode } = Bun.spawnSync([...install, '--loglevel=error'], {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if (exitCode !== 0) process.exit(1)
  return { runtime: join(folder, 'node_modules/@oven', TARGETS[target].bun, 'bin/bun') }
}

async function sumOf(path: string): Promise<string> {
  const hash = new Bun.CryptoHasher('sha256')
  for await (const chunk of Bun.file(path).stream()) hash.update(chunk)
  return `${hash.digest('hex')}  ${basename(path)}\n`
}

await runScript(HELP, async (args) => {
  const builds = plan(args)
  await buildWeb(join(root, 'dist/web'))
  installFor(builds)
  const sums: string[] = []
  for (const build of builds) {
    mkdirSync(dirname(build.outfile), { recursive: true })
    await buildExecutable({ ...build, ...runtimeOf(build.target) })
    sums.push(await sumOf(build.outfile))
    process.stdout.write(`${build.outfile}\n`)
  }
  const [first] = builds
  if (first) writeFileSync(join(dirname(first.outfile), 'SHA256SUMS'), sums.join(''))
})
