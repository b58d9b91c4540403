import { isLoopback } from '../../core/loopback.ts'
import type { Principal } from '../../core/principal.ts'

/** How this server is reached: the address at which it is published, if any, and its port. */
interface Reach {
  readonly publicUrl: string | undefined
  readonly port: number
}

/** Whether an address leads back to this server: as it is published, as it was called, or here. */
export const ownAddress =
  (reach: () => Reach) =>
  ({ host, hostname, port }: URL, { nested }: Principal): boolean => {
    const { publicUrl, port: own } = reach()
    return (
      host === nested?.host ||
      (publicUrl !== undefined && host === new URL(publicUrl).host) ||
      (isLoopback(hostname) && port === String(own))
    )
  }
