import { type Statement, sql } from '../../storage/db.ts'

/**
 * The ids of all versions of a conversation, of which `id` is one. Not `id = … OR family = …`, for
 * which SQLite reads all sessions of the tenant.
 */
export const versionIds = (tenantId: string, id: string): Statement => sql`
  SELECT CAST(${id} AS TEXT) UNION ALL SELECT v.id FROM session o
    JOIN session v ON v.tenant_id = o.tenant_id AND v.family = o.family
  WHERE o.tenant_id = ${tenantId} AND o.id = ${id}`
