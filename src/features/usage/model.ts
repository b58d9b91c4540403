import { z } from 'zod'

export const UsageResponse = z.object({
  /** Calls since the tenant exists. */
  total: z.int(),
  /** The last seven days, today last; `day` is days since the epoch. */
  daily: z.array(z.object({ day: z.int(), count: z.int() })),
  /** Revoked keys included. */
  key_count: z.int(),
})
export type UsageResponse = z.infer<typeof UsageResponse>
