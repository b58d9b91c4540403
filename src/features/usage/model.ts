import { z } from 'zod'

const tokens = { input_tokens: z.int(), output_tokens: z.int() }
const Tokens = z.object({ input: z.int(), output: z.int() })

export const UsageResponse = z.object({
  /** Calls since the tenant was created. */
  total: z.int(),
  /** The last seven days, today last; `day` is days since the epoch. */
  daily: z.array(z.object({ day: z.int(), count: z.int(), ...tokens })),
  /** Includes revoked keys. */
  key_count: z.int(),
  /** Tokens of this UTC day, and of all days since the tenant was created. */
  tokens: z.object({ today: Tokens, total: Tokens }),
  /** Over the same seven days, the greatest use first; null is no app. */
  by_app: z.array(z.object({ app_id: z.string().nullable(), calls: z.int(), ...tokens })),
  /** Over the same seven days. The console's studio has no key. */
  by_key: z.array(z.object({ key_id: z.string(), prefix: z.string(), calls: z.int(), ...tokens })),
  /** Input and output of the UTC day, which daily budgets are compared with. */
  spent_today: z.array(z.object({ key_id: z.string(), tokens: z.int() })),
  /** Over the same seven days: whose models answered. */
  by_channel: z.array(z.object({ channel: z.string(), ...tokens })),
})
export type UsageResponse = z.infer<typeof UsageResponse>
