import { z } from 'zod'
import { type Clock, DAY_MS } from '../../core/clock.ts'
import { appError, issue } from '../../core/errors.ts'
import { dailyTokens } from '../../core/fields.ts'
import type { PrincipalKind } from '../../core/principal.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gated } from '../../http/gate.ts'
import type { TenantLimitStore, TenantRow } from './limits-store.ts'
import { nameOf } from './service.ts'

/** A tenant as operators see it: numbers, no content. */
const TenantSummary = z.object({
  id: z.string(),
  name: z.string(),
  /** Addresses. */
  owners: z.array(z.string()),
  members: z.int(),
  /** Those that are not revoked. */
  keys: z.int(),
  docs: z.int(),
  /** Input and output of the UTC day, of all that the tenant does. */
  tokens_today: z.int(),
  /** 0: no limit. */
  daily_tokens: z.int(),
  /** Null: the limit of the server. */
  max_docs: z.int().nullable(),
  /** Its keys and people are refused; nothing is deleted. */
  disabled: z.boolean(),
})
export type TenantSummary = z.infer<typeof TenantSummary>
const TenantsResponse = z.object({ tenants: z.array(TenantSummary) })

const TenantPutRequest = z.object({
  daily_tokens: dailyTokens.default(0),
  max_docs: z
    .int({ error: issue('field_type', { field: 'max_docs', kind: 'int' }) })
    .min(0, { error: issue('field_too_small', { field: 'max_docs', min: 0 }) })
    .nullable()
    .default(null),
  disabled: z
    .boolean({ error: issue('field_type', { field: 'disabled', kind: 'boolean' }) })
    .default(false),
})

export interface TenantLimitParts {
  readonly store: TenantLimitStore
  readonly clock: Pick<Clock, 'now'>
  /** The limit of the server. */
  readonly docsMax: () => number
  /** Writes what is counted but not stored. */
  readonly flush: () => Promise<void>
}

const PEOPLE: readonly PrincipalKind[] = ['session']
const change = jsonBody(TenantPutRequest)

/** The tenants of the server and their limits, for its operators. */
export function tenantLimitRoutes(on: Gated, parts: TenantLimitParts) {
  const { store, clock, docsMax, flush } = parts
  const today = () => Math.floor(clock.now() / DAY_MS)

  async function shown(rows: readonly TenantRow[]): Promise<TenantSummary[]> {
    const owners = Map.groupBy(await store.owners(), ({ tenant_id }) => tenant_id)
    return rows.map(({ disabled, name, ...row }) => {
      const emails = (owners.get(row.id) ?? []).map(({ email }) => email)
      const shownName = nameOf({ name, owner: emails[0] ?? null })
      return { ...row, name: shownName, owners: emails, disabled: disabled === 1 }
    })
  }

  return on
    .get(
      '/system/tenants',
      async () => {
        await flush()
        return { tenants: await shown(await store.list(today())) }
      },
      {
        allow: PEOPLE,
        requireOperator: true,
        response: TenantsResponse,
        detail: { summary: 'List tenants with their limits' },
      },
    )
    .put(
      '/system/tenants/:id',
      async ({ params, request, upload }) => {
        const limits = await change.read(request, upload)
        if (limits.max_docs !== null && limits.max_docs > docsMax()) {
          throw appError('field_too_big', { field: 'max_docs', max: docsMax() })
        }
        await store.set(params.id, limits)
        await flush()
        const row = await store.find(today(), params.id)
        const [tenant] = row ? await shown([row]) : []
        if (!tenant) throw appError('not_found', { what: 'tenant' })
        return tenant
      },
      {
        allow: PEOPLE,
        requireOperator: true,
        parse: 'none',
        response: TenantSummary,
        detail: { summary: 'Limit a tenant, or close it', requestBody: change.doc },
      },
    )
}
