import { z } from 'zod'
import { EVERYONE } from '../../core/principal.ts'
import { isAnthropic } from '../../http/error-forms.ts'
import type { Gated } from '../../http/gate.ts'
import type { ClaudeModels } from '../anthropic/models.ts'
import type { Assistant, Assistants } from '../shared/assistants.ts'

const Model = z.object({
  id: z.string(),
  object: z.literal('model'),
  created: z.int(),
  owned_by: z.literal('moonbase'),
  moonbase: z.object({ app_id: z.string() }).optional(),
})

const modelOf = ({ name, appId, created }: Assistant): z.infer<typeof Model> => ({
  id: name,
  object: 'model',
  created,
  owned_by: 'moonbase',
  ...(appId === null ? {} : { moonbase: { app_id: appId } }),
})

const ClaudeModel = z.object({
  type: z.literal('model'),
  id: z.string(),
  display_name: z.string(),
  created_at: z.string(),
})

export interface ModelRouteOptions {
  readonly assistants: Assistants
  readonly claudeModels: ClaudeModels
}

/** The assistants of a credential as models: of OpenAI's API, and of Anthropic's. */
export const modelRoutes = (on: Gated, { assistants, claudeModels }: ModelRouteOptions) =>
  on
    .get(
      '/models',
      async ({ principal, request }) => {
        if (isAnthropic(request)) return claudeModels.list(principal)
        const data = (await assistants.list(principal)).map(modelOf)
        return { object: 'list' as const, data }
      },
      {
        allow: EVERYONE,
        response: z.union([
          z.object({ object: z.literal('list'), data: z.array(Model) }),
          z.object({
            data: z.array(ClaudeModel),
            has_more: z.boolean(),
            first_id: z.string().nullable(),
            last_id: z.string().nullable(),
          }),
        ]),
        detail: { summary: 'The assistants, as models' },
      },
    )
    .get(
      '/models/:id',
      // Null where the path is not percent-encoded UTF-8.
      async ({ principal, request, params }) => {
        const id = (params.id as string | null) ?? ''
        if (isAnthropic(request)) return claudeModels.find(principal, id)
        return modelOf(await assistants.find(principal, id))
      },
      {
        allow: EVERYONE,
        response: z.union([Model, ClaudeModel]),
        detail: { summary: 'One assistant by its name or the id of its app' },
      },
    )
