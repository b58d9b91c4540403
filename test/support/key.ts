import { run } from './run.ts'

export interface KeyOptions {
  readonly email?: string
  /** Requests a minute; 0, the default in tests, is unlimited. */
  readonly rateLimit?: number
  readonly env?: Readonly<Record<string, string>>
}

export interface CreatedKey {
  readonly key: string
  readonly tenantId: string
  /** `Authorization` header of the key. */
  readonly headers: { readonly authorization: string }
}

/** Makes a general key by `key create --json`; a server may run on the same folder. */
export async function createKey(dataDir: string, options: KeyOptions = {}): Promise<CreatedKey> {
  const { email, rateLimit = 0, env } = options
  const args = ['key', 'create', '--json', '--rate-limit', String(rateLimit)]
  const owner = email ? ['--email', email] : []
  const { out, err, code } = await run([...args, ...owner], dataDir, env)
  if (code !== 0) throw new Error(`key create ended with ${code}:\n${err}`)
  const { key, tenant_id } = JSON.parse(out) as { key: string; tenant_id: string }
  return { key, tenantId: tenant_id, headers: { authorization: `Bearer ${key}` } }
}
