import type { Config } from '../config.ts'
import { createSeal, type Seal } from '../core/crypto.ts'
import { parseSecrets, readSecretsText, secretsPath } from '../data-folder/secrets.ts'
import { grantOwner, sealOwner, secretOwner } from '../features/mcp-servers/endpoint.ts'
import { tokenOwner } from '../features/shares/tokens.ts'
import { ownerOf } from '../features/system/service.ts'
import { secretOwner as webhookOwner } from '../features/webhooks/store.ts'
import type { StoredRow } from './copy-store.ts'

const ownedBy = (row: StoredRow) => ({ tenantId: String(row.tenant_id), id: String(row.id) })

/** By table, the sealed columns of a row, each with the owner that it is sealed for. */
export const SEAL_OWNERS: Readonly<
  Record<string, (row: StoredRow) => Readonly<Record<string, string>>>
> = {
  provider: (row) => ({ key_sealed: String(row.tenant_id) }),
  mcp_server: (row) => ({
    header_sealed: sealOwner(ownedBy(row)),
    client_secret_sealed: secretOwner(ownedBy(row)),
  }),
  mcp_grant: (row) => ({ sealed: grantOwner({ id: String(row.server_id) }) }),
  share: (row) => ({ token_sealed: tokenOwner(ownedBy(row)) }),
  system_setting: (row) => ({ value_sealed: ownerOf(String(row.name)) }),
  webhook: (row) => ({
    secret_sealed: webhookOwner(ownedBy(row)),
    former_sealed: webhookOwner(ownedBy(row)),
  }),
}

/** Opens sealed values with the key of `folder` and seals them with the key of the environment. */
export function createResealing({ MB_ENCRYPTION_KEY: key }: Config, folder: string) {
  const text = readSecretsText(secretsPath(folder))
  const old = text === null ? null : parseSecrets(text)?.encryption_key
  const target = key === undefined || key === 'off' ? null : createSeal(key)
  const seals = old ? [createSeal(old)] : []
  let unreadable = 0

  function renew(value: Uint8Array, owner: string): Uint8Array {
    if (target === null || target.open(value, owner) !== null) return value
    const opened = seals.map((seal: Seal) => seal.open(value, owner)).find((one) => one !== null)
    if (opened === undefined || opened === null) unreadable += 1
    return typeof opened === 'string' ? target.seal(opened, owner) : value
  }

  return {
    /** How many values neither key opened. */
    unreadable: () => unreadable,

    /** The row with its sealed columns sealed anew. */
    change(table: string, row: StoredRow): StoredRow {
      const changed = { ...row }
      for (const [column, owner] of Object.entries(SEAL_OWNERS[table]?.(row) ?? {})) {
        const value = row[column]
        if (value instanceof Uint8Array) changed[column] = renew(value, owner)
      }
      return changed
    },
  }
}
