import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { openBoxFile } from '../support/box-file.ts'
import { createKey } from '../support/key.ts'
import { canMount, mounted, readOnly } from '../support/mount-namespace.ts'
import { run, sentence } from '../support/run.ts'
import { startServer } from '../support/server.ts'
import { type TempFolder, tempFolder } from '../support/temp.ts'

interface Check {
  readonly level: string
  readonly text: string
}

async function doctor(dataDir: string): Promise<Readonly<Record<string, Check>>> {
  const { out } = await run(['doctor', '--json'], dataDir)
  const { checks } = JSON.parse(out) as { checks: (Check & { name: string })[] }
  return Object.fromEntries(checks.map((check) => [check.name, check]))
}

const modeOf = (path: string) => statSync(path).mode & 0o777

const left = tempFolder()
beforeAll(async () => {
  await createKey(left.path)
  await (await startServer({ dataDir: left.path })).stop()
})
afterAll(() => left[Symbol.dispose]())

/** A data folder with a database and secrets, as a server left it. */
function used(folder: TempFolder): string {
  const data = folder.file('data')
  cpSync(left.path, data, { recursive: true })
  return data
}

test('a data folder that others may write is closed at the start, with a note', async () => {
  using folder = tempFolder()
  const data = used(folder)
  chmodSync(data, 0o777)
  for (const name of ['moonbase.db', 'secrets.json']) chmodSync(`${data}/${name}`, 0o644)
  expect((await doctor(data))['Data folder']).toMatchObject({
    level: 'warn',
    text: expect.stringContaining('moonbase.db'),
  })
  await using server = await startServer({ dataDir: data })
  expect(server.output()).toContain('other users could write to the data folder')
  expect(modeOf(data)).toBe(0o755)
  for (const name of ['moonbase.db', 'moonbase.db-wal', 'moonbase.db-shm', 'secrets.json']) {
    expect(modeOf(`${data}/${name}`)).toBe(0o600)
  }
  expect((await doctor(data))['Data folder']?.level).toBe('ok')
}, 60_000)

test.skipIf(process.getuid?.() !== 0)(
  'a data folder of another user is refused by every command that opens it',
  async () => {
    using folder = tempFolder()
    const data = used(folder)
    chownSync(data, 65_534, 65_534)
    for (const args of [['serve'], ['key', 'create'], ['backup', folder.file('b.db')]]) {
      expect(sentence(await run(args, data))).toContain('belongs to another user (65534)')
    }
    expect((await doctor(data))['Data folder']).toMatchObject({
      level: 'fail',
      text: expect.stringContaining('belongs to another user'),
    })
  },
  30_000,
)

describe('a link in the data folder', () => {
  test.each(['secrets.json', 'moonbase.db', 'moonbase.db-wal', 'moonbase.lock', 'backups'])(
    'a symbolic link in place of %s is refused',
    async (name) => {
      using folder = tempFolder()
      const data = used(folder)
      const elsewhere = folder.file('elsewhere')
      if (name === 'backups') mkdirSync(elsewhere)
      else if (existsSync(`${data}/${name}`)) renameSync(`${data}/${name}`, elsewhere)
      else writeFileSync(elsewhere, 'x')
      chmodSync(elsewhere, 0o755)
      const before = name === 'backups' ? null : readFileSync(elsewhere)
      symlinkSync(elsewhere, `${data}/${name}`)
      for (const args of [['serve'], ['key', 'create'], ['backup', folder.file('b.db')]]) {
        expect(sentence(await run(args, data))).toContain(`${name} is a link`)
      }
      expect(modeOf(elsewhere)).toBe(0o755)
      if (before) expect(readFileSync(elsewhere).equals(before)).toBe(true)
    },
    60_000,
  )

  test('a symbolic link as MB_DATA_DIR leads to the folder', async () => {
    using folder = tempFolder()
    const data = used(folder)
    symlinkSync(data, folder.file('link'))
    await using server = await startServer({ dataDir: folder.file('link') })
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
  }, 60_000)
})

test('the doctor reports a trigger that the product did not make', async () => {
  using folder = tempFolder()
  const data = used(folder)
  expect((await doctor(data)).Database?.level).toBe('ok')
  const db = openBoxFile(`${data}/moonbase.db`)
  db.run('CREATE TRIGGER unrevoke AFTER UPDATE ON api_key BEGIN SELECT 1; END')
  db.close()
  expect((await doctor(data)).Database).toMatchObject({
    level: 'fail',
    text: expect.stringContaining('unrevoke'),
  })
}, 60_000)

test('a missing secrets.json stops the start while stored model keys need it', async () => {
  using folder = tempFolder()
  const data = folder.file('data')
  const { headers } = await createKey(data)
  {
    await using server = await startServer({ dataDir: data })
    const saved = await fetch(`${server.url}/v1/provider`, {
      method: 'PUT',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ base_url: 'https://models.example/v1', api_key: 'sk-own' }),
    })
    expect(saved.status).toBe(200)
  }
  rmSync(`${data}/secrets.json`)
  expect(sentence(await run(['serve'], data))).toContain('MB_ENCRYPTION_KEY=off')
  expect(existsSync(`${data}/secrets.json`)).toBe(false)
  expect((await doctor(data)).Secrets?.level).toBe('fail')

  const off = await startServer({ dataDir: data, env: { MB_ENCRYPTION_KEY: 'off' } })
  expect(await off.stop()).toBe(0)
  await using server = await startServer({ dataDir: data })
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
}, 60_000)

test.skipIf(!canMount)(
  'a read-only data folder is refused in one sentence',
  async () => {
    using folder = tempFolder()
    const data = used(folder)
    const beside = readOnly(data)
    for (const args of [
      ['serve'],
      ['key', 'create'],
      ['restore', folder.file('b.db'), '--force'],
    ]) {
      if (args[0] === 'restore') await run(['backup', folder.file('b.db')], data)
      expect(sentence(await run(args, data, {}, beside))).toContain('cannot be written')
    }
    const { err, code, out } = await run(['doctor'], data, {}, beside)
    expect({ err, code }).toEqual({ err: '', code: 1 })
    expect(out).toContain('cannot be written')
  },
  60_000,
)

test.skipIf(!canMount)(
  'a data folder on a full disk is refused in one sentence',
  async () => {
    using folder = tempFolder()
    const data = used(folder)
    const disk = folder.file('disk')
    mkdirSync(disk)
    // Without the log and its shared memory, for which there is no room then.
    const files = `${data}/moonbase.db ${data}/secrets.json`
    const fill = `cp -p ${files} ${disk} && (dd if=/dev/zero of=${disk}/filler bs=1k 2>&1 || true)`
    const beside = mounted('size=4m', disk, `{ ${fill} > /dev/null; }`)
    for (const args of [['serve'], ['key', 'create']]) {
      expect(sentence(await run(args, disk, {}, beside))).toContain('is on a full disk')
    }
    const { err, out } = await run(['doctor'], disk, {}, beside)
    expect(err).toBe('')
    expect(out).toContain('is on a full disk')
  },
  60_000,
)
