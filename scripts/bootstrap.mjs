// Runs a command of this repository on a machine that has only Node.js 20 and npm (or Bun).
// Uses exactly the Bun version of scripts/toolchain. Without it, npm installs it into .toolchain/
// and verifies it with the hashes of scripts/toolchain. Then Bun installs the packages of bun.lock
// when they are missing or stale, and runs the command. No install script of a package runs:
// onnxruntime-node's would download GPU libraries, and bun's is not needed, because the executable
// lies in @oven/bun-<platform>.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const pinned = join(root, 'scripts/toolchain')
const BUN_VERSION = JSON.parse(readFileSync(join(pinned, 'package.json'), 'utf8')).dependencies.bun
const TASKS = {
  start: [['run', 'scripts/build-web.ts'], ['src/main.ts']],
  test: [
    ['run', 'scripts/check.ts'],
    ['run', 'scripts/build-web.ts'],
    // The executable that tests start, built once before the processes that run the tests.
    ['run', 'scripts/build.ts'],
    ['run', 'scripts/test.ts'],
  ],
  check: [['run', 'scripts/check.ts']],
  build: [['run', 'scripts/build.ts']],
  release: [['run', 'scripts/release.ts']],
  bench: [
    ['run', 'scripts/build-web.ts'],
    ['run', 'scripts/bench/main.ts'],
  ],
}

function say(text) {
  process.stderr.write(`moonbase: ${text}\n`)
}

function fail(text) {
  say(text)
  process.exit(1)
}

/** Path of a Bun of the pinned version; null without one. */
function findBun() {
  const local = join(root, '.toolchain', 'node_modules', '@oven')
  const shipped = existsSync(local)
    ? readdirSync(local).map((name) => join(local, name, 'bin', 'bun'))
    : []
  for (const candidate of [...shipped, process.versions.bun ? process.execPath : 'bun']) {
    const answer = spawnSync(candidate, ['--version'], { encoding: 'utf8' })
    if (answer.status === 0 && answer.stdout.trim() === BUN_VERSION) return candidate
  }
  return null
}

/** npm refuses a package whose hash is not the one in the lock file. */
function installBun() {
  say(`installing Bun ${BUN_VERSION} from npm (once)`)
  const folder = join(root, '.toolchain')
  mkdirSync(folder, { recursive: true })
  for (const name of ['package.json', 'package-lock.json']) {
    copyFileSync(join(pinned, name), join(folder, name))
  }
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const done = spawnSync(npm, args, { cwd: folder, stdio: ['ignore', 2, 2] })
  if (done.error) fail(`there is no npm to install Bun ${BUN_VERSION}: install npm, or that Bun`)
  if (done.status !== 0) fail(`npm could not install Bun ${BUN_VERSION}; its message is above`)
  return findBun() ?? fail('Bun was installed but does not start on this machine')
}

/**
 * Installs the packages of `folder` when its node_modules is missing or stale; returns whether they
 * are installed.
 */
function installPackages(bun, folder) {
  const stamp = join(folder, 'node_modules', '.moonbase-install')
  const inputs = ['package.json', 'bun.lock'].map((name) => readFileSync(join(folder, name)))
  const want = createHash('sha256').update(Buffer.concat(inputs)).digest('hex')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === want) return true
  say('installing packages (once)')
  const done = spawnSync(bun, ['install', '--frozen-lockfile', '--ignore-scripts'], {
    cwd: folder,
    stdio: ['ignore', 2, 2],
  })
  if (done.status !== 0) return false
  mkdirSync(dirname(stamp), { recursive: true })
  writeFileSync(stamp, want)
  return true
}

/** Runs one Bun command with this terminal, passing signals on, and resolves with its exit code. */
function run(bun, args) {
  return new Promise((resolve) => {
    // The limit of 256 concurrent fetches must be raised before the process starts; crash reports
    // are turned off.
    const own = { BUN_CONFIG_MAX_HTTP_REQUESTS: '65336' }
    const env = { BUN_ENABLE_CRASH_REPORTING: '0', ...process.env, ...own }
    const child = spawn(bun, args, { cwd: root, stdio: 'inherit', env })
    const relay = (signal) => child.kill(signal)
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, relay)
    child.on('exit', (code, signal) => resolve(signal ? 1 : (code ?? 1)))
  })
}

const [task, ...rest] = process.argv.slice(2)
const steps = TASKS[task] ?? fail(`unknown task "${task}"; known: ${Object.keys(TASKS).join(', ')}`)
const bun = findBun() ?? installBun()
if (!installPackages(bun, root)) {
  fail('the packages could not be installed; check the network, try again')
}
// A speech library of 11 MB for tests only, so that starting the server does not install it.
if (task === 'test' && !installPackages(bun, join(root, 'test/fixtures/sherpa'))) {
  say('sherpa-onnx could not be installed; its tests are skipped')
}
for (const [index, step] of steps.entries()) {
  const code = await run(bun, index === steps.length - 1 ? [...step, ...rest] : step)
  if (code !== 0) process.exit(code)
}
