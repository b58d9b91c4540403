import type { Principal } from '../../core/principal.ts'

/** The open socket of a device. */
export interface OpenSocket {
  readonly principal: Principal
  close(code: number, reason: string): void
}

/** Close codes (RFC 6455, section 7.4.1). */
const [GOING_AWAY, POLICY] = [1001, 1008]

/** The open sockets of all devices, one each: a new one closes the old (contract 2, 4.2). */
export function createSockets(stillValid: (principal: Principal) => Promise<boolean>) {
  const byTenant = new Map<string, Map<string, OpenSocket>>()

  async function recheck(tenantId: string): Promise<void> {
    const open = [...(byTenant.get(tenantId)?.values() ?? [])]
    await Promise.all(
      open.map(async (socket) => {
        if (!(await stillValid(socket.principal))) socket.close(POLICY, 'revoked')
      }),
    )
  }

  return {
    add(socket: OpenSocket): void {
      const { tenantId, deviceId } = socket.principal
      const open = byTenant.get(tenantId) ?? new Map<string, OpenSocket>()
      const before = open.get(deviceId ?? '')
      open.set(deviceId ?? '', socket)
      byTenant.set(tenantId, open)
      before?.close(POLICY, 'replaced')
      // What was revoked since the key was looked at is found now.
      recheck(tenantId).catch(() => socket.close(1011, 'error'))
    },

    remove(socket: OpenSocket): void {
      const { tenantId, deviceId } = socket.principal
      const open = byTenant.get(tenantId)
      if (open?.get(deviceId ?? '') !== socket) return
      open.delete(deviceId ?? '')
      if (open.size === 0) byTenant.delete(tenantId)
    },

    /** To be called after keys of the tenant were revoked: their sockets are closed. */
    recheck,

    /** Ids of the tenant's devices whose socket is open. */
    connected: (tenantId: string): string[] => [...(byTenant.get(tenantId)?.keys() ?? [])],

    /** The server stops. */
    close(): void {
      for (const open of byTenant.values()) {
        for (const socket of open.values()) socket.close(GOING_AWAY, 'server stopping')
      }
    },
  }
}

export type Sockets = ReturnType<typeof createSockets>
