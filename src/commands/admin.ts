import { type Config, type Environment, loadConfig } from '../config.ts'
import { systemClock } from '../core/clock.ts'
import { normalEmail } from '../core/email.ts'
import { SIGN_IN_LINK_SECONDS_MAX } from '../core/limits/contract.ts'
import { NO_LOG } from '../core/log.ts'
import { explainStorage, OperatorError } from '../data-folder/operator-error.ts'
import { parseSecrets, readSecretsText, secretsPath } from '../data-folder/secrets.ts'
import { createLinks } from '../features/login/link-store.ts'
import { createPeopleStore } from '../features/people/store.ts'
import { createTenants } from '../features/tenants/service.ts'
import { createTenantStore } from '../features/tenants/store.ts'
import { openStorage, type Storage } from '../wiring/storage.ts'
import { effectiveConfig, readStoredSettings } from '../wiring/stored-settings.ts'
import { type Invocation, parseArguments, UsageError } from './arguments.ts'

const USAGE = 'usage: moonbase admin EMAIL [--remove | --link]'

/** `moonbase admin`: who runs the server; works before the first start and while it runs. */
export async function runAdmin({ args, env, program, write }: Invocation): Promise<void> {
  const { values, positionals } = parseArguments(args, {
    remove: { type: 'boolean' },
    link: { type: 'boolean' },
  })
  const [given, ...more] = positionals
  const both = values.remove === true && values.link === true
  if (given === undefined || more.length > 0 || both) throw new UsageError(USAGE)
  const email = normalEmail(given)
  if (email === null) throw new UsageError(`${given} is no e-mail address`)
  const config = loadConfig(env)
  const clock = systemClock()
  const storage = await openStorage(config, { clock, program })
  const { db, reader } = await storage.opening
  const publicUrl = await publicUrlOf(env, config, storage)
  try {
    const tenants = createTenants({ store: createTenantStore(db), clock })
    const people = createPeopleStore(db)
    if (values.link === true) {
      const { user_id } = await tenants.ensure(email)
      const token = await createLinks(db, clock).make(user_id)
      const site = publicUrl ?? `http://localhost:${config.MB_PORT}`
      return write(linkText(email, `${site.replace(/\/+$/, '')}/auth/link/${token}`))
    }
    if (values.remove !== true) {
      const { user_id } = await tenants.ensure(email)
      await people.promote(user_id)
      const hasSignedIn = (await people.find(user_id, 0))?.signed_in_at != null
      const from = hasSignedIn ? 'now' : 'as soon as they have signed in'
      return write(`${email} runs this server ${from}.\n`)
    }
    const known = await tenants.byEmail(email)
    if (!known) throw new OperatorError(`nobody here has the address ${email}`)
    if (!(await people.change(known.user_id, { operator: false }))) {
      throw new OperatorError(
        `${email} is the last operator who can sign in; another one has to sign in first`,
      )
    }
    write(`${email} no longer runs this server.\n`)
  } catch (error) {
    throw explainStorage(error, config.MB_DATA_DIR)
  } finally {
    await reader.close()
    await db.close()
  }
}

const linkText = (email: string, link: string) => `
  ${link}

  Signs in ${email}, once, within ${SIGN_IN_LINK_SECONDS_MAX / 60} minutes. Give it to nobody else.

`

/** MB_PUBLIC_URL, which the console may have set. */
async function publicUrlOf(env: Environment, config: Config, storage: Storage) {
  if (config.MB_PUBLIC_URL !== undefined) return config.MB_PUBLIC_URL
  const text = readSecretsText(secretsPath(config.MB_DATA_DIR))
  const given = config.MB_ENCRYPTION_KEY
  const own = text === null ? null : (parseSecrets(text)?.encryption_key ?? null)
  const key = given === 'off' ? null : (given ?? own)
  const stored = readStoredSettings(await storage.sealedSettings(), key, NO_LOG)
  return effectiveConfig(env, stored, NO_LOG).MB_PUBLIC_URL
}
