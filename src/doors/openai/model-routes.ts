import { Elysia } from 'elysia'
import { z } from 'zod'
import { EVERYONE } from '../../core/principal.ts'
import type { Gate } from '../../http/gate.ts'
import type { Assistant, Assistants } from './assistants.ts'

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

/** The assistants of a credential in the form of OpenAI's models. */
export const modelRoutes = (gate: Gate, { assistants }: { readonly assistants: Assistants }) =>
  new Elysia()
    .use(gate)
    .get(
      '/models',
      async ({ principal }) => {
        const data = (await assistants.list(principal)).map(modelOf)
        return { object: 'list' as const, data }
      },
      {
        allow: EVERYONE,
        response: z.object({ object: z.literal('list'), data: z.array(Model) }),
        detail: { summary: 'The assistants, as models' },
      },
    )
    .get(
      '/models/:id',
      // Null where the path is not percent-encoded UTF-8.
      async ({ principal, params: { id } }) =>
        modelOf(await assistants.find(principal, (id as string | null) ?? '')),
      {
        allow: EVERYONE,
        response: Model,
        detail: { summary: 'One assistant by its name or the id of its app' },
      },
    )
