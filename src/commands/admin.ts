import { loadConfig } from '../config.ts'
import { systemClock } from '../core/clock.ts'
import { normalEmail } from '../core/email.ts'
import { explainStorage, OperatorError } from '../data-folder/operator-error.ts'
import { createPeopleStore } from '../features/people/store.ts'
import { createTenants } from '../features/tenants/service.ts'
import { createTenantStore } from '../features/tenants/store.ts'
import { openStorage } from '../wiring/storage.ts'
import { type Invocation, parseArguments, UsageError } from './arguments.ts'

const USAGE = 'usage: moonbase admin EMAIL [--remove]'

/** `moonbase admin`: who runs the server; works before the first start and while it runs. */
export async function runAdmin({ args, env, program, write }: Invocation): Promise<void> {
  const { values, positionals } = parseArguments(args, { remove: { type: 'boolean' } })
  const [given, ...more] = positionals
  if (given === undefined || more.length > 0) throw new UsageError(USAGE)
  const email = normalEmail(given)
  if (email === null) throw new UsageError(`${given} is no e-mail address`)
  const config = loadConfig(env)
  const clock = systemClock()
  const storage = await openStorage(config, { clock, program })
  const { db, reader } = await storage.opening
  try {
    const tenants = createTenants({ store: createTenantStore(db), clock })
    const people = createPeopleStore(db)
    if (values.remove !== true) {
      const { user_id } = await tenants.ensure(email)
      await people.promote(user_id)
      const hasSignedIn = (await people.find(user_id))?.signed_in_at != null
      const from = hasSignedIn ? 'now' : 'as soon as they have signed in'
      return write(`${email} runs this server ${from}.\n`)
    }
    const known = await tenants.byEmail(email)
    if (!known) throw new OperatorError(`nobody here has the address ${email}`)
    if (!(await people.demote(known.user_id))) {
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
