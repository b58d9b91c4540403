import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { asOrdinaryUser, freePort, programs } from './postgres.ts'
import { askPostgres } from './postgres-client.ts'

/** A server that can be killed and started again on the same data. */
export interface Cluster extends AsyncDisposable {
  readonly url: string
  /** Kills all its processes at once. */
  kill(): Promise<void>
  /** Resolves when it answers. */
  start(): Promise<void>
}

/**
 * Makes a cluster that flushes as a real one does, and starts it. One in the folder `kept` stays
 * there, and is started again by the next call.
 */
export async function startCluster(kept?: string): Promise<Cluster> {
  const bin = programs()
  if (bin === null) throw new Error('this machine has no PostgreSQL')
  const folder = kept ?? mkdtempSync(join(tmpdir(), 'moonbase-cluster-'))
  if (kept) mkdirSync(kept, { recursive: true })
  if (process.getuid?.() === 0) Bun.spawnSync(['chown', 'postgres', folder])
  const data = join(folder, 'data')
  const run = (...argv: string[]) =>
    Bun.spawn(asOrdinaryUser(argv), { cwd: folder, stdout: 'ignore', stderr: 'ignore' })
  const init = ['-D', data, '-U', 'moonbase', '-A', 'trust', '-E', 'UTF8', '--locale=C']
  if (!existsSync(join(data, 'PG_VERSION'))) {
    if ((await run(join(bin, 'initdb'), ...init).exited) !== 0) throw new Error('initdb failed')
  }
  const port = freePort()
  const url = `postgres://moonbase@127.0.0.1:${port}/postgres`
  let server: Bun.Subprocess | null = null

  async function answers(): Promise<boolean> {
    return await askPostgres(url, 'SELECT 1').then(
      () => true,
      () => false,
    )
  }

  async function start(): Promise<void> {
    const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=']
    const options = settings.flatMap((setting) => ['-c', setting])
    const begin = () => run(join(bin ?? '', 'postgres'), '-D', data, '-p', String(port), ...options)
    server = begin()
    for (let tries = 1; !(await answers()); tries++) {
      if (tries > 1_000) throw new Error('PostgreSQL did not start')
      // Retries until the last killed process has released the shared memory.
      if (server.exitCode !== null) server = begin()
      await Bun.sleep(50)
    }
  }

  async function kill(): Promise<void> {
    if (!server) return
    const listed = Bun.spawnSync(['ps', '-o', 'pid=', '--ppid', String(server.pid)]).stdout
    server.kill('SIGKILL')
    for (const pid of listed.toString().trim().split(/\s+/)) {
      try {
        process.kill(Number(pid), 'SIGKILL')
      } catch {
        // It has ended by itself.
      }
    }
    await server.exited
  }

  await start()
  return {
    ...{ url, start, kill },
    async [Symbol.asyncDispose]() {
      if (kept) {
        // Ends its sessions and leaves nothing to recover.
        server?.kill('SIGINT')
        return void (await server?.exited)
      }
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
