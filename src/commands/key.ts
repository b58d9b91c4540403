import { type Config, loadConfig } from '../config.ts'
import { systemClock } from '../core/clock.ts'
import { normalEmail } from '../core/email.ts'
import { DAILY_TOKENS_MAX, KEY_NAME_CHARS_MAX } from '../core/limits/contract.ts'
import { charCount } from '../core/text.ts'
import { explainStorage } from '../data-folder/operator-error.ts'
import { createKeys, type KeyScope } from '../features/keys/service.ts'
import { createKeyStore } from '../features/keys/store.ts'
import { createTenants } from '../features/tenants/service.ts'
import { createTenantStore } from '../features/tenants/store.ts'
import { openStorage } from '../wiring/storage.ts'
import { type Invocation, parseArguments, UsageError } from './arguments.ts'

/** The owner of a key when no address is given: the person at this terminal. */
const OWNER = 'owner@localhost'

const USAGE =
  'usage: moonbase key create [--email E] [--rate-limit N] [--name NAME] ' +
  '[--daily-tokens N] [--json]'

/** `moonbase key create`: a key without a browser; works while the server runs. */
export async function runKey({ args, env, program, write }: Invocation): Promise<void> {
  const options = readOptions(args)
  const config = loadConfig(env)
  const clock = systemClock()
  const storage = await openStorage(config, { clock, program })
  const { db, reader } = await storage.opening
  try {
    const tenants = createTenants({ store: createTenantStore(db), clock })
    const keys = createKeys({ store: createKeyStore(db), clock })
    const { email, user_id } = await tenants.ensure(options.email)
    const belongsTo = await tenants.tenantsOf(user_id)
    const tenant = belongsTo.find(({ role }) => role === 'owner') ?? belongsTo[0]
    if (!tenant) throw new UsageError(`${email} is no member of any tenant`)
    const tenant_id = tenant.id
    const issued = await keys.issue(tenant_id, options.scope)
    write(
      options.json
        ? `${JSON.stringify({ ...issued, tenant_id, email })}\n`
        : shown(issued.key, email, config),
    )
  } catch (error) {
    throw explainStorage(error, config.MB_DATA_DIR)
  } finally {
    await reader.close()
    await db.close()
  }
}

function readOptions(args: readonly string[]) {
  const { values, positionals } = parseArguments(args, {
    email: { type: 'string' },
    'rate-limit': { type: 'string' },
    'daily-tokens': { type: 'string' },
    name: { type: 'string' },
    json: { type: 'boolean' },
  })
  if (positionals.join(' ') !== 'create') throw new UsageError(USAGE)
  const limit = values['rate-limit']
  if (typeof limit === 'string' && !/^\d+$/.test(limit)) {
    throw new UsageError('--rate-limit is requests a minute, a whole number; 0 is unlimited')
  }
  const email = typeof values.email === 'string' ? normalEmail(values.email) : OWNER
  if (email === null) throw new UsageError('--email must be an e-mail address')
  const scope: KeyScope = {
    ...(typeof limit === 'string' ? { rateLimit: Number(limit) } : {}),
    dailyTokens: dailyTokensOf(values['daily-tokens']),
    name: nameOf(values.name),
  }
  return { email, scope, json: values.json === true }
}

function dailyTokensOf(given: unknown): number {
  const tokens = given === undefined ? 0 : Number(/^\d+$/.test(String(given)) ? given : Number.NaN)
  if (tokens <= DAILY_TOKENS_MAX) return tokens
  const most = `a whole number up to ${DAILY_TOKENS_MAX}; 0 is no budget`
  throw new UsageError(`--daily-tokens is tokens a day, ${most}`)
}

function nameOf(given: unknown): string {
  const name = typeof given === 'string' ? given.trim().toWellFormed() : ''
  if (charCount(name) <= KEY_NAME_CHARS_MAX) return name
  throw new UsageError(`--name has at most ${KEY_NAME_CHARS_MAX} characters`)
}

function shown(key: string, email: string, config: Config): string {
  return `
  A key for ${email}. It is shown only now:

    ${key}

  Try it:

    curl -N ${addressOf(config)}/v1/agent \\
      -H 'Authorization: Bearer ${key}' \\
      -H 'Content-Type: application/json' \\
      -d '{"text":"你好，12*34 等于多少？"}'

`
}

/** The address of the server with these settings: its public one, else the one on this machine. */
function addressOf({ MB_PUBLIC_URL, MB_TLS_CERT, MB_HOST, MB_PORT }: Config): string {
  if (MB_PUBLIC_URL !== undefined) return MB_PUBLIC_URL.replace(/\/$/, '')
  const host = MB_HOST.includes(':') ? `[${MB_HOST}]` : MB_HOST
  return `${MB_TLS_CERT === undefined ? 'http' : 'https'}://${host}:${MB_PORT}`
}
