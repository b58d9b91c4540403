import { describe, expect, test } from 'bun:test'
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tempFolder } from '../../test/support/temp.ts'
import { ConfigError, loadConfig } from '../config.ts'
import { openSecrets } from './secrets.ts'

const open = (dataDir: string, env: Record<string, string> = {}) =>
  openSecrets(loadConfig({ MB_DATA_DIR: dataDir, ...env }))

describe('the keys of the box', () => {
  test('secrets are made on first start, readable by their owner only, and kept', () => {
    using folder = tempFolder()
    const made = open(folder.path)
    expect(made.session).toHaveLength(32)
    expect(made.encryption).toHaveLength(32)
    expect(made.encryption).not.toEqual(made.session)
    expect(statSync(folder.file('secrets.json')).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder.path)).toEqual(['secrets.json'])
    expect(open(folder.path)).toEqual(made)
  })

  test('secrets differ from installation to installation', () => {
    using one = tempFolder()
    using other = tempFolder()
    expect(open(one.path).session).not.toEqual(open(other.path).session)
  })

  test('secrets of the environment win, and the file stays unchanged', () => {
    using folder = tempFolder()
    const made = open(folder.path)
    const key = Buffer.alloc(32, 7)
    const env = {
      MB_SESSION_SECRET: key.toString('hex'),
      MB_ENCRYPTION_KEY: key.toString('base64'),
    }
    expect(open(folder.path, env)).toEqual({ session: key, encryption: key })
    expect(open(folder.path, { MB_ENCRYPTION_KEY: 'off' }).encryption).toBeNull()
    expect(open(folder.path)).toEqual(made)
  })

  test('a secrets file that others could read is closed to them', () => {
    using folder = tempFolder()
    open(folder.path)
    chmodSync(folder.file('secrets.json'), 0o644)
    open(folder.path)
    expect(statSync(folder.file('secrets.json')).mode & 0o777).toBe(0o600)
  })

  for (const damage of ['', '{', '{}', '{"session_secret":"00","encryption_key":"00"}']) {
    test(`a damaged secrets file stops the start and is left alone: ${damage || 'empty'}`, () => {
      using folder = tempFolder()
      writeFileSync(folder.file('secrets.json'), damage, { mode: 0o600 })
      expect(() => open(folder.path)).toThrow(ConfigError)
      expect(readFileSync(folder.file('secrets.json'), 'utf8')).toBe(damage)
    })
  }

  test('many first starts at once agree on the secrets', async () => {
    using folder = tempFolder()
    const program = `
      import { loadConfig } from './src/config.ts'
      import { openSecrets } from './src/data-folder/secrets.ts'
      const { session } = openSecrets(loadConfig(process.env))
      process.stdout.write(Buffer.from(session).toString('hex'))`
    const starts = Array.from({ length: 4 }, () =>
      Bun.spawn([process.execPath, '-e', program], {
        env: { ...process.env, MB_DATA_DIR: folder.path },
        stdout: 'pipe',
      }),
    )
    const seen = await Promise.all(starts.map(({ stdout }) => new Response(stdout).text()))
    expect(seen[0]).toMatch(/^[0-9a-f]{64}$/)
    expect(new Set(seen).size).toBe(1)
    expect(readdirSync(folder.path)).toEqual(['secrets.json'])
  })
})
