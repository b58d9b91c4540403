import { appError } from '../../core/errors.ts'
import type { Principal } from '../../core/principal.ts'
import type { Apps } from '../../features/apps/service.ts'
import type { AppName } from '../../features/apps/store.ts'

/** Who answers a conversation: the tenant itself or one of its apps. */
export interface Assistant {
  /** The value of `model` for clients. */
  readonly name: string
  readonly appId: string | null
  /** Seconds since 1970. */
  readonly created: number
}

const TENANT: Assistant = { name: 'moonbase', appId: null, created: 1_764_547_200 }

/** Finds assistants by the `model` of OpenAI's API. */
export function createAssistants(apps: Pick<Apps, 'names'>) {
  /** All assistants that the credential can choose from. */
  async function list({ tenantId, kind, appId }: Principal): Promise<readonly Assistant[]> {
    if (kind !== 'general' && appId === null) return [TENANT]
    const all = assistantsOf(await apps.names(tenantId))
    if (kind === 'general') return [TENANT, ...all]
    const own = all.filter((assistant) => assistant.appId === appId)
    // A device whose app was deleted answers as the tenant does.
    return own.length > 0 ? own : [TENANT]
  }

  function named(assistants: readonly Assistant[], name: string): Assistant {
    const byId = assistants.find(({ appId }) => appId === name)
    const found = byId ?? assistants.find((assistant) => assistant.name === name)
    if (!found) throw appError('model_not_found', {}, { param: 'model' })
    return found
  }

  return {
    list,

    /** Throws `model_not_found`. */
    find: async (principal: Principal, name: string): Promise<Assistant> =>
      named(await list(principal), name.trim()),

    /**
     * Who answers a request for `model`. For the key of an app or a device it is the app, whatever
     * `model` says. Throws `model_not_found` for a name that a general key's tenant does not have.
     */
    async choose(principal: Principal, model: string): Promise<Assistant> {
      const name = model.trim()
      if (principal.kind !== 'general') return (await list(principal))[0] ?? TENANT
      if (name === '' || name === TENANT.name) return TENANT
      return named(await list(principal), name)
    },
  }
}

export type Assistants = ReturnType<typeof createAssistants>

/** An app is named by its name, or by its id when another assistant has the same name. */
function assistantsOf(apps: readonly AppName[]): Assistant[] {
  const taken = [TENANT.name, ...apps.flatMap(({ id, name }) => [id, name])]
  return apps.map(({ id, name, created_at }) => ({
    name: taken.filter((one) => one === name).length === 1 ? name : id,
    appId: id,
    created: Math.floor(Date.parse(created_at) / 1000),
  }))
}
