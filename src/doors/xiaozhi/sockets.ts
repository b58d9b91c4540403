import type { Principal } from '../../core/principal.ts'
import type { Lease, Leases } from '../../storage/shared-state.ts'

/** The open socket of a device. */
export interface OpenSocket {
  readonly principal: Principal
  close(code: number, reason: string): void
  /** Whether the board neither hears nor speaks. */
  isIdle(): boolean
  /** Speaks texts by itself; `onUnheard` gets how many were begun, where not all were. */
  say(texts: readonly string[], onUnheard: (begun: number) => void): void
}

/** Texts for devices: who takes one tells it or gives it back. */
export interface Texts<Text extends { readonly device_id: string | null; readonly text: string }> {
  take(tenantId: string, deviceIds: readonly string[]): Promise<readonly Text[]>
  giveBack(unheard: readonly Text[]): void
}

/** Close codes (RFC 6455, section 7.4.1). */
const [GOING_AWAY, POLICY] = [1001, 1008]

/** The open sockets of devices, one each: a new one closes the old one. */
export function createSockets(
  stillValid: (principal: Principal) => Promise<boolean>,
  leases: Pick<Leases, 'seize' | 'heldElsewhere'>,
) {
  const byTenant = new Map<string, Map<string, OpenSocket>>()
  const claims = new WeakMap<OpenSocket, Lease>()

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
      const replaced = () => socket.close(POLICY, 'replaced')
      claims.set(socket, leases.seize(nameOf(tenantId, deviceId ?? ''), replaced))
      // Finds a revocation that happened since the key was checked.
      recheck(tenantId).catch(() => socket.close(1011, 'error'))
    },

    remove(socket: OpenSocket): void {
      void claims.get(socket)?.release()
      const { tenantId, deviceId } = socket.principal
      const open = byTenant.get(tenantId)
      if (open?.get(deviceId ?? '') !== socket) return
      open.delete(deviceId ?? '')
      if (open.size === 0) byTenant.delete(tenantId)
    },

    /** To be called after keys of the tenant were revoked: their sockets are closed. */
    recheck,

    /** Has idle boards tell what there is for them; one tenant is asked for at a time. */
    async deliver<Text extends { readonly device_id: string | null; readonly text: string }>({
      take,
      giveBack,
    }: Texts<Text>): Promise<void> {
      for (const [tenantId, open] of byTenant) {
        const idle = [...open].filter(([, socket]) => socket.isIdle()).map(([id]) => id)
        if (idle.length === 0) continue
        const texts = Map.groupBy(await take(tenantId, idle), ({ device_id }) => device_id ?? '')
        for (const [deviceId, given] of texts) {
          const unheard = (begun: number) => giveBack(given.slice(begun))
          const socket = open.get(deviceId)
          if (!socket) unheard(0)
          else
            socket.say(
              given.map(({ text }) => text),
              unheard,
            )
        }
      }
    },

    /** Ids of the tenant's devices whose socket is open. */
    async connected(tenantId: string): Promise<string[]> {
      const prefix = nameOf(tenantId, '')
      const elsewhere = await leases.heldElsewhere(prefix)
      const here = byTenant.get(tenantId)?.keys() ?? []
      return [...new Set([...here, ...elsewhere.map((name) => name.slice(prefix.length))])]
    },

    /** Closes all sockets when the server stops. */
    close(): void {
      for (const open of byTenant.values()) {
        for (const socket of open.values()) socket.close(GOING_AWAY, 'server stopping')
      }
    },
  }
}

const nameOf = (tenantId: string, deviceId: string) => `socket ${tenantId}/${deviceId}`

export type Sockets = ReturnType<typeof createSockets>
