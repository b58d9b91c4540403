import { z } from 'zod'
import { MANAGERS } from '../../core/principal.ts'
import type { BoardStore } from '../../features/devices/board-store.ts'
import type { Gated } from '../../http/gate.ts'
import type { Origins } from '../../http/origin.ts'
import type { Sockets } from './sockets.ts'

/** Where stock boards connect, and which of them are connected. */
export const BoardsResponse = z.object({
  /** The address to enter on a board's Wi-Fi page; the activation code may be appended. */
  address: z.string(),
  /** Whether a board can reach it: false for an address such as localhost. */
  reachable: z.boolean(),
  /** Ids of the devices whose socket is open. */
  connected: z.array(z.string()),
  /** When each device had its last turn; devices without one are missing. */
  last_turns: z.array(z.object({ device_id: z.string(), at: z.string() })),
})
export type BoardsResponse = z.infer<typeof BoardsResponse>

export interface BoardsConsoleOptions {
  readonly sockets: Pick<Sockets, 'connected'>
  readonly lastTurns: BoardStore['lastTurns']
  readonly origins: Pick<Origins, 'base'>
}

/** GET /console/boards. */
export const boardsConsoleRoutes = (
  on: Gated,
  { sockets, lastTurns, origins }: BoardsConsoleOptions,
) =>
  on.get(
    '/boards',
    async ({ principal, request }): Promise<BoardsResponse> => {
      const base = origins.base(request)
      return {
        address: `${base}/xiaozhi/`,
        reachable: isReachable(base),
        connected: await sockets.connected(principal.tenantId),
        last_turns: await lastTurns(principal.tenantId),
      }
    },
    {
      allow: MANAGERS,
      response: BoardsResponse,
      detail: { summary: 'Where stock voice boards start, and which are connected' },
    },
  )

/** Whether another machine can use this address: false for names of the machine itself. */
export const isReachable = (base: string): boolean =>
  !/^(?:localhost|.*\.localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[::1?\])$/.test(
    URL.parse(base)?.hostname ?? 'localhost',
  )
