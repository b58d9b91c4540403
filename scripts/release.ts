// `npm run release`: writes everything that a release publishes. See --help.
import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { billOfMaterials } from './release/bom.ts'
import { releaseFiles, sumsOf } from './release/files.ts'
import { releaseNotes, unreleasedNotes } from './release-notes.ts'
import { readArguments, runScript, UsageError } from './usage.ts'

const HELP = `Writes everything that a release publishes into dist/release: the executables, the
bill of what is inside them with all licences (CycloneDX), the notes, what installs them (systemd,
container), and SHA256SUMS of all of it. Starts those executables that this machine can run.

  npm run release                   the version of package.json, with its section of CHANGELOG.md
  npm run release -- --draft        with the section "Unreleased" as notes
  npm run release -- --built        takes the executables that are there already

Executables of arm64 are started with qemu-aarch64 where it and its libraries are installed.
`

const root = join(import.meta.dir, '..')
const folder = join(root, 'dist/release')

function build(): void {
  rmSync(folder, { recursive: true, force: true })
  const command = [process.execPath, 'run', join(root, 'scripts/build.ts'), '--target', 'all']
  const { exitCode } = Bun.spawnSync(command, { cwd: root, stdio: ['ignore', 2, 2] })
  if (exitCode !== 0) process.exit(1)
}

const EMULATORS = ['/usr/bin/qemu-aarch64-static', '/usr/bin/qemu-aarch64']
/** Where Debian keeps the libraries of arm64 (libc6-arm64-cross, libstdc++6-arm64-cross). */
const LIBRARIES = '/usr/aarch64-linux-gnu'

/** The command before the executable; null when this machine cannot run it. */
function runner(name: string): readonly string[] | null {
  if (name.includes(`-${process.arch}`)) return []
  const emulator = EMULATORS.find((path) => existsSync(path))
  if (!name.endsWith('-arm64') || !emulator || !existsSync(LIBRARIES)) return null
  return [emulator, '-L', LIBRARIES]
}

/** What the executable says of itself in an empty folder. */
function started(name: string): string {
  const before = runner(name)
  if (before === null) return 'not started: this machine runs no such executable'
  const cwd = mkdtempSync(join(tmpdir(), 'moonbase-release-'))
  try {
    const command = [...before, join(folder, name), 'version']
    const { exitCode, stdout } = Bun.spawnSync(command, { cwd, stderr: 'ignore' })
    if (exitCode !== 0) throw new Error(`${name} version ended with ${exitCode}`)
    return `starts (${stdout.toString().trim()})`
  } finally {
    rmSync(cwd, { recursive: true, force: true })
  }
}

/** The executables that are there. */
function executables(): string[] {
  const names = existsSync(folder) ? readdirSync(folder) : []
  return names.filter((name) => name.startsWith('moonbase-linux-')).sort()
}

function table(sums: ReadonlyMap<string, string>): string {
  const lines = [...sums].map(([name, sum]) => {
    const mb = (statSync(join(folder, name)).size / 1e6).toFixed(1).padStart(7)
    return `  ${mb} MB  ${sum.slice(0, 16)}…  ${name}`
  })
  return `${lines.join('\n')}\n`
}

await runScript(HELP, async (args) => {
  const options = { draft: { type: 'boolean' }, built: { type: 'boolean' } } as const
  const { draft, built } = readArguments({ args, options }).values
  const changelog = await Bun.file(join(root, 'CHANGELOG.md')).text()
  const { version } = await Bun.file(join(root, 'package.json')).json()
  // Read before anything is built: a release without its notes is none.
  const notes = draft ? unreleasedNotes(changelog) : releaseNotes(version, changelog, version)
  if (!built) build()
  else if (executables().length === 0) throw new UsageError(`${folder} holds no executables`)
  const bill = `${JSON.stringify(billOfMaterials(root), null, 2)}\n`
  const deploy = join(root, 'scripts/deploy')
  const dockerfile = await Bun.file(join(deploy, 'Dockerfile')).text()
  const texts = releaseFiles({ version, notes, bill, dockerfile })
  for (const [name, text] of texts) await Bun.write(join(folder, name), text)
  copyFileSync(join(deploy, 'moonbase.service'), join(folder, 'moonbase.service'))
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  const sums = await sumsOf(folder)
  const lines = [...sums].map(([name, sum]) => `${sum}  ${name}\n`)
  await Bun.write(join(folder, 'SHA256SUMS'), lines.join(''))
  process.stdout.write(`${folder}\n${table(sums)}`)
  for (const name of executables()) process.stdout.write(`  ${name}: ${started(name)}\n`)
})
