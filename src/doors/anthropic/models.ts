import { appError } from '../../core/errors.ts'
import type { Principal } from '../../core/principal.ts'
import type { Assistant, Assistants } from '../shared/assistants.ts'

const TENANT = 'claude-moonbase'
const APP = `${TENANT}-`
/** Names that coding agents have built in, such as that of a second, small model. */
const THEIRS = /claude|anthropic/i

const notFound = () => appError('model_not_found', {}, { param: 'model' })

const modelOf = ({ name, appId, created }: Assistant) => ({
  type: 'model' as const,
  id: appId === null ? TENANT : APP + appId,
  display_name: name,
  created_at: new Date(created * 1000).toISOString(),
})

/** The assistants by the names that clients of Anthropic's API have for them. */
export function createClaudeModels(assistants: Assistants) {
  /** The assistant of a name that only this API has; null for another name. */
  async function ours(principal: Principal, model: string): Promise<Assistant | null> {
    if (model !== TENANT && !model.startsWith(APP)) return null
    const list = await assistants.list(principal)
    const appId = model === TENANT ? null : model.slice(APP.length)
    const found = list.find((assistant) => assistant.appId === appId)
    if (!found) throw notFound()
    return found
  }

  return {
    /** Who answers a request for `model`; the key of an app decides by itself. Throws 404. */
    async choose(principal: Principal, model: string): Promise<Assistant> {
      const name = model.trim()
      if (principal.kind !== 'general') return assistants.choose(principal, name)
      const named = await ours(principal, name)
      if (named) return named
      if (!THEIRS.test(name)) return assistants.choose(principal, name)
      return assistants.find(principal, name).catch(() => assistants.choose(principal, ''))
    },

    /** Newest first, as clients show them. */
    async list(principal: Principal) {
      const all = [...(await assistants.list(principal))]
      const apps = all.filter(({ appId }) => appId !== null).sort((a, b) => b.created - a.created)
      const data = [...all.filter(({ appId }) => appId === null), ...apps].map(modelOf)
      const ids = { first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null }
      return { data, has_more: false, ...ids }
    },

    /** Throws 404. */
    async find(principal: Principal, id: string) {
      const name = id.trim()
      return modelOf((await ours(principal, name)) ?? (await assistants.find(principal, name)))
    },
  }
}

export type ClaudeModels = ReturnType<typeof createClaudeModels>
