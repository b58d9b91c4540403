import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Config, ConfigError, loadConfig, unknownSettings } from '../../config.ts'
import { DAY_MS, systemClock } from '../../core/clock.ts'
import { NO_LOG } from '../../core/log.ts'
import { UnsafePathError } from '../../core/private-files.ts'
import { codeOf } from '../../data-folder/operator-error.ts'
import { embedded } from '../../native/embedded.ts'
import { everyPart, type NativeRuntime, prepareRuntime } from '../../native/runtime.ts'
import { vectorVersion } from '../../storage/sqlite/inspect.ts'
import { createUpstreamFetch } from '../../upstream/net/upstream-call.ts'
import type { Program } from '../../wiring/adapters.ts'
import { effectiveConfig, readStoredSettings } from '../../wiring/stored-settings.ts'
import { type Invocation, parseArguments, UsageError } from '../arguments.ts'
import { loadTls } from '../tls.ts'
import { checkBackups } from './backup.ts'
import { type Finding, fail, ok, printed, warn } from './finding.ts'
import { checkDatabase, checkFolder, checkSecrets, isServed, storedSettings } from './folder.ts'
import { checkClock, checkFiles, checkMemory } from './machine.ts'
import { checkEmbedding, checkUpstreams } from './upstreams.ts'

/**
 * `moonbase doctor`: checks everything that the server needs and prints what is wrong and how to
 * fix it, without secrets. Exits with 1 when something must be fixed. Changes no data: it only puts
 * the native parts in place, as a start does, to see whether they load.
 */
export async function runDoctor({ args, env, program, write }: Invocation): Promise<void> {
  const { values, positionals } = parseArguments(args, { json: { type: 'boolean' } })
  if (positionals.length > 0) throw new UsageError('usage: moonbase doctor [--json]')
  const findings = await examine(env, program)
  write(values.json === true ? `${JSON.stringify({ checks: findings })}\n` : printed(findings))
  if (findings.some(({ level }) => level === 'fail')) process.exit(1)
}

async function examine(env: Invocation['env'], program: Program): Promise<Finding[]> {
  let config: Config
  try {
    config = loadConfig(env)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return [fail('Settings', error.message, 'see moonbase --help')]
  }
  const findings = [checkSettings(env), ...checkFolder(config)]
  const usable = findings.every(({ level }) => level !== 'fail')
  const scratch = usable ? null : scratchFolder()
  try {
    const served = isServed(config)
    findings.push(await checkAddress(config, served), checkTls(config))
    if (config.MB_DATABASE_URL === undefined) findings.push(checkSecrets(config))
    findings.push(...checkFiles(config), checkMemory(), checkClock(config, systemClock().now()))
    const { finding, runtime } = await checkNative(scratch ?? config.MB_DATA_DIR)
    const data = await examineData(config)
    findings.push(finding, ...data.findings)
    const clock = systemClock()
    const stored = usable ? data.stored() : {}
    const inForce = effectiveConfig(env, stored, NO_LOG)
    const upstream = createUpstreamFetch(fetch)
    const shared = { clock, log: NO_LOG, program, fetch: upstream, runtime }
    const parts = { config: inForce, ...shared, isServed: served }
    if (runtime) findings.push(await checkEmbedding(parts, runtime))
    if (config.MB_DATABASE_URL === undefined) findings.push(await checkBackups(config, env))
    return [...findings, ...(await checkUpstreams(parts))]
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return [...findings, fail('Settings', error.message, 'see moonbase --help')]
  } finally {
    if (scratch !== null) rmSync(scratch, { recursive: true, force: true })
  }
}

/** Checks the database, file or PostgreSQL, and reads the console's settings from it. */
async function examineData(config: Config) {
  const { MB_DATABASE_URL: url, MB_DATABASE_DIRECT_URL: directUrl } = config
  if (url === undefined) {
    return { findings: [checkDatabase(config)], stored: () => storedSettings(config) }
  }
  const { examineDatabase } = await import('./database.ts')
  const { findings, sealed } = await examineDatabase(url, directUrl)
  const key = config.MB_ENCRYPTION_KEY
  const encryption = key === undefined || key === 'off' ? null : key
  return { findings, stored: () => readStoredSettings(sealed, encryption, NO_LOG) }
}

/** A temporary folder for native parts when the data folder is not writable; null without one. */
function scratchFolder(): string | null {
  try {
    return mkdtempSync(join(tmpdir(), 'moonbase-doctor-'))
  } catch {
    return null
  }
}

function checkSettings(env: Invocation['env']): Finding {
  const unknown = unknownSettings(env)
  return unknown.length === 0
    ? ok('Settings', 'every variable is known and well-formed')
    : warn('Settings', `no such setting: ${unknown.join(', ')}`, 'see moonbase --help')
}

const ADDRESS_FAULTS: Readonly<Record<string, readonly [string, string]>> = {
  EADDRINUSE: ['is taken by another program', 'choose another MB_PORT'],
  EADDRNOTAVAIL: ['is no address of this machine', 'set MB_HOST to one, or to 0.0.0.0'],
  EACCES: ['needs the right to use a port below 1024', 'choose an MB_PORT above 1023'],
}

async function checkAddress(config: Config, served: boolean | null): Promise<Finding> {
  // The running server's settings decide where it listens; they may differ from this command's.
  if (served) return ok('Address', 'a server runs on this data folder')
  const { MB_HOST: host, MB_PORT: port } = config
  const address = `${host}:${port}`
  const { promise, resolve } = Promise.withResolvers<string | null>()
  const server = createServer()
  server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'))
  server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)))
  const code = await promise
  if (code === null) return ok('Address', `${address} is free`)
  const [text, mend] = ADDRESS_FAULTS[code] ?? [`cannot be used (${code})`, 'check MB_HOST']
  return fail('Address', `${address} ${text}`, mend)
}

const SOON_MS = 14 * DAY_MS

function checkTls(config: Config): Finding {
  const name = 'TLS'
  try {
    const tls = loadTls(config)
    if (!tls) return ok(name, 'off; set MB_TLS_CERT and MB_TLS_KEY, or use a proxy')
    const day = tls.until.toISOString().slice(0, 10)
    const left = tls.until.getTime() - systemClock().now()
    if (left < 0) return fail(name, `the certificate ended on ${day}`, 'renew it')
    if (left < SOON_MS) return warn(name, `the certificate ends on ${day}`, 'renew it')
    return ok(name, `the certificate is valid until ${day}`)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return fail(name, error.message, 'give both PEM files of one certificate')
  }
}

async function checkNative(
  folder: string,
): Promise<{ finding: Finding; runtime: NativeRuntime | null }> {
  const name = 'Native parts'
  try {
    const runtime = await prepareRuntime(folder, embedded, everyPart)
    const version = `sqlite-vec ${vectorVersion(runtime.vec0)}`
    const { replaced } = runtime
    const finding =
      replaced.length === 0
        ? ok(name, version)
        : warn(
            name,
            `${replaced.join(', ')} differed from the program's own and were written again`,
            'see who else can write to the data folder, and whether its disk is sound',
          )
    return { finding, runtime }
  } catch (error) {
    if (error instanceof UnsafePathError) {
      return { finding: fail(name, error.message, 'remove it'), runtime: null }
    }
    const mend =
      'its disk may forbid programs (noexec) or be full: set MB_DATA_DIR; ' +
      `or they are damaged: delete ${join(folder, 'runtime')}`
    return {
      finding: fail(name, `cannot be loaded ${codeOf(error)}`.trim(), mend),
      runtime: null,
    }
  }
}
