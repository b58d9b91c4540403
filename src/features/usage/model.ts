import { z } from 'zod'

export const UsageResponse = z.object({
  /** Calls since the tenant was created. */
  total: z.int(),
  /** The last seven days, today last; `day` is days since the epoch. */
  daily: z.array(z.object({ day: z.int(), count: z.int() })),
  /** Includes revoked keys. */
  key_count: z.int(),
})
export type UsageResponse = z.infer<typeof UsageResponse>
