import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createKey } from '../support/key.ts'
import { run, sentence } from '../support/run.ts'
import { BUCKET, startS3 } from '../support/s3-server.ts'
import { startServer } from '../support/server.ts'
import { postSse } from '../support/sse.ts'
import { tempFolder } from '../support/temp.ts'

type Env = Readonly<Record<string, string>>

const PASSPHRASE = 'open these backups'
const WORD = 'heliotrope'

const inFolder = (folder: string): Env => ({
  MB_BACKUP_DIR: folder,
  MB_BACKUP_PASSPHRASE: PASSPHRASE,
})

async function say(url: string, headers: Env, text: string): Promise<void> {
  const body = { text, session_id: 's', kb: false }
  const events = await (await postSse(`${url}/v1/agent`, { headers, body })).all()
  if (events.at(-1)?.data.type !== 'llm_end') throw new Error('the turn failed')
}

async function said(url: string, headers: Env): Promise<string> {
  return (await fetch(`${url}/v1/sessions/s/history`, { headers })).text()
}

const store = async (dataDir: string, env: Env) => {
  const made = await run(['backup', '--json'], dataDir, env)
  expect(made).toMatchObject({ code: 0, err: '' })
  return JSON.parse(made.out) as { name: string; unchanged: boolean }
}

interface Report {
  readonly checks: readonly { readonly name: string; readonly state: string; class: string }[]
}

async function backupCheck(url: string) {
  const report = (await (await fetch(`${url}/status?format=json`)).json()) as Report
  const { state, class: word } = report.checks.find(({ name }) => name === 'backup') ?? {}
  return `${state} ${word}`
}

describe('stored backups', () => {
  test('a server stores encrypted backups in time, and says how old the last one is', async () => {
    using folder = tempFolder()
    const drawer = folder.file('store')
    await using server = await startServer({
      dataDir: folder.file('data'),
      env: { ...inFolder(drawer), MB_BACKUP_EVERY: '1s', MB_METRICS_TOKEN: 'scrape' },
    })
    const { headers } = await createKey(folder.file('data'))
    await say(server.url, headers, WORD)
    await server.printed.until((text) => text.includes('"backup stored"') || null)
    expect(await backupCheck(server.url)).toBe('ok ok')
    const scrape = { headers: { authorization: 'Bearer scrape' } }
    const metrics = await (await fetch(`${server.url}/metrics`, scrape)).text()
    expect(metrics).toMatch(/^moonbase_backup_age_seconds [\d.]+$/m)
    for (const name of readdirSync(drawer)) {
      const bytes = readFileSync(`${drawer}/${name}`)
      expect(bytes.includes(WORD) || bytes.includes('SQLite')).toBe(false)
    }
    expect(server.output()).not.toContain(PASSPHRASE)
  })

  test('turns before a stored backup are there after its restore', async () => {
    using folder = tempFolder()
    const [data, env] = [folder.file('data'), inFolder(folder.file('store'))]
    const key = await (async () => {
      await using server = await startServer({ dataDir: data })
      const { headers } = await createKey(data)
      await say(server.url, headers, WORD)
      await store(data, env)
      return headers
    })()
    const target = folder.file('other')
    const restored = await run(['restore', folder.file('store')], target, env)
    expect(restored).toMatchObject({ code: 0, err: '' })
    await using server = await startServer({ dataDir: target })
    expect(await said(server.url, key)).toContain(WORD)

    const [name = ''] = readdirSync(folder.file('store'))
    const file = folder.file('store', name)
    const wrong = { ...env, MB_BACKUP_PASSPHRASE: 'another one' }
    expect(sentence(await run(['restore', file], folder.file('third'), wrong))).toBe(
      `${file} does not open with MB_BACKUP_PASSPHRASE: it has another one, or is damaged`,
    )
  })

  test('an unchanged box stores no other backup, and the oldest ones go', async () => {
    using folder = tempFolder()
    const [data, drawer] = [folder.file('data'), folder.file('store')]
    const env = { ...inFolder(drawer), MB_BACKUP_KEEP: '2' }
    const names: string[] = []
    for (let round = 0; round < 3; round++) {
      await createKey(data)
      names.push((await store(data, env)).name)
    }
    expect(await store(data, env)).toMatchObject({ name: names.at(-1), unchanged: true })
    writeFileSync(`${drawer}/notes.txt`, 'not a backup')
    expect(readdirSync(drawer).sort()).toEqual([...names.slice(1), 'notes.txt'].sort())
    // The damaged one is left out, and the one before it is taken.
    const newest = `${drawer}/${names.at(-1)}`
    const bytes = readFileSync(newest)
    writeFileSync(newest, bytes.subarray(0, bytes.length - 1))
    const restored = await run(['restore', drawer], folder.file('other'), env)
    expect(restored.code).toBe(0)
    expect(restored.out).toContain(`Left out: ${names.at(-1)}`)
    expect(restored.out).toContain(`Restored ${names.at(-2)}`)
  })

  test('backups go to a bucket and come back from it', async () => {
    using folder = tempFolder()
    await using s3 = startS3()
    const data = folder.file('data')
    const place = `s3://${BUCKET}/boxes/home`
    const env = { MB_BACKUP_S3: place, MB_BACKUP_PASSPHRASE: PASSPHRASE, ...s3.env }
    const { headers } = await createKey(data)
    const first = await store(data, env)
    // A killed upload of this box goes; that of another box stays.
    s3.uploads.set('own', { key: `boxes/home/${first.name}`, parts: new Map() })
    const foreign = first.name.replace(/-[0-9a-f]{8}\./, '-00000000.')
    s3.uploads.set('foreign', { key: `boxes/home/${foreign}`, parts: new Map() })
    await createKey(data)
    s3.faults.push({ method: 'PUT', status: 500, code: 'InternalError' })
    const second = await store(data, env)
    expect([...s3.uploads.keys()]).toEqual(['foreign'])
    expect([...s3.objects.keys()].sort()).toEqual(
      [first, second].map(({ name }) => `boxes/home/${name}`),
    )
    expect(s3.refusals).toEqual([])

    const target = folder.file('other')
    const restored = await run(['restore', place], target, env)
    expect(restored.out).toContain(`Restored ${second.name} of ${place}`)
    await using server = await startServer({ dataDir: target })
    expect((await fetch(`${server.url}/v1/apps`, { headers })).status).toBe(200)
    const one = await run(['restore', `${place}/${first.name}`, '--force'], folder.file('3'), env)
    expect(one.out).toContain(`Restored ${first.name}`)
  })

  test('a place of several boxes gives back the box that is meant, and never another', async () => {
    using folder = tempFolder()
    const [drawer, fresh] = [folder.file('store'), folder.file('fresh')]
    const env = inFolder(drawer)
    const names: string[] = []
    for (const box of ['one', 'two']) {
      await createKey(folder.file(box))
      await (await startServer({ dataDir: folder.file(box) })).stop()
      names.push((await store(folder.file(box), env)).name)
    }
    const [one = '', two = ''] = names.map((name) => name.slice(-15, -7))
    const told = sentence(await run(['restore', drawer], fresh, env))
    expect(told).toContain('several boxes')
    for (const name of [one, two, '--box']) expect(told).toContain(name)
    expect(existsSync(fresh)).toBe(false)

    const own = await run(['restore', drawer, '--force'], folder.file('one'), env)
    expect(own.out).toContain(`Restored ${names[0]}`)
    const chosen = await run(['restore', drawer, '--box', one], fresh, env)
    expect(chosen.out).toContain(`Restored ${names[0]}`)
    const none = sentence(await run(['restore', drawer, '--box', '00000000'], fresh, env))
    expect(none).toContain(one)
  })

  test('a backup under another name is left out', async () => {
    using folder = tempFolder()
    const [data, drawer] = [folder.file('data'), folder.file('store')]
    const env = inFolder(drawer)
    await createKey(data)
    const { name } = await store(data, env)
    const bytes = readFileSync(`${drawer}/${name}`)
    const later = name.replace(/\d{4}/, (year) => String(Number(year) + 50))
    writeFileSync(`${drawer}/${later}`, bytes)
    const restored = await run(['restore', drawer], folder.file('other'), env)
    expect(restored.out).toContain(`Left out: ${later} was renamed`)
    expect(restored.out).toContain(`Restored ${name}`)
    const alone = run(['restore', `${drawer}/${later}`], folder.file('third'), env)
    expect(sentence(await alone)).toContain('was renamed: it was made at')
    expect(existsSync(folder.file('third'))).toBe(false)
  })

  test('a backup of one box under the name of another is refused', async () => {
    using folder = tempFolder()
    const [data, drawer] = [folder.file('data'), folder.file('store')]
    const env = inFolder(drawer)
    await createKey(data)
    await (await startServer({ dataDir: data })).stop()
    const { name } = await store(data, env)
    renameSync(`${drawer}/${name}`, `${drawer}/${name.slice(0, -15)}01234567.backup`)
    const told = sentence(await run(['restore', drawer], folder.file('other'), env))
    expect(told).toContain(`was renamed: it is of box ${name.slice(-15, -7)}`)
  })

  test('a bucket that refuses everything stops no turn, and the status page says so', async () => {
    using folder = tempFolder()
    await using s3 = startS3()
    const data = folder.file('data')
    const env = {
      MB_BACKUP_S3: 's3://elsewhere',
      MB_BACKUP_PASSPHRASE: PASSPHRASE,
      MB_BACKUP_EVERY: '1s',
      ...s3.env,
    }
    await using server = await startServer({ dataDir: data, env })
    const { headers } = await createKey(data)
    const line = await server.printed.until((text) => /.*"backup failed".*/.exec(text)?.[0] ?? null)
    expect(line).toContain('the bucket elsewhere does not do it: NoSuchBucket')
    expect(await backupCheck(server.url)).toBe('down backup_failed')
    await say(server.url, headers, WORD)
    expect(await said(server.url, headers)).toContain(WORD)
    const wrong = { ...env, MB_BACKUP_S3: `s3://${BUCKET}`, AWS_SECRET_ACCESS_KEY: 'no' }
    expect(sentence(await run(['backup'], data, wrong))).toContain('SignatureDoesNotMatch')
  })

  test('settings of backups that make no sense stop the start', async () => {
    using folder = tempFolder()
    const data = folder.file('data')
    const told = async (env: Env) => sentence(await run(['serve'], data, env))
    expect(await told({ MB_BACKUP_DIR: '/b' })).toStartWith(
      'MB_BACKUP_DIR needs MB_BACKUP_PASSPHRASE',
    )
    const env = inFolder(folder.file('store'))
    expect(await told({ ...env, MB_BACKUP_S3: `s3://${BUCKET}` })).toBe(
      'MB_BACKUP_DIR and MB_BACKUP_S3 cannot be set together; choose one',
    )
    for (const every of ['0s', '6', '6 h', '1w', '99d']) {
      expect(await told({ ...env, MB_BACKUP_EVERY: every })).toBe(
        'MB_BACKUP_EVERY must be a number with s, m, h or d, from 1s to 24d',
      )
    }
  })
})
