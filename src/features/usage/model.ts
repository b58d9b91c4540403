import { z } from 'zod'

/** What a request comes from. */
const SOURCES = ['console', 'share', 'device', 'api', 'run'] as const
export type Source = (typeof SOURCES)[number]

const tokens = { input_tokens: z.int(), output_tokens: z.int() }
const Tokens = z.lazy(() => z.object({ input: z.int(), output: z.int() }))

export const UsageResponse = z.lazy(() =>
  z.object({
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
    /** Over the same seven days: calls, and turns at the console, by what they come from. */
    by_source: z.array(z.object({ source: z.enum(SOURCES), calls: z.int(), ...tokens })),
    /** Over the same seven days. The console's studio has no key. */
    by_key: z.array(
      z.object({ key_id: z.string(), prefix: z.string(), calls: z.int(), ...tokens }),
    ),
    /** Input and output of the UTC day, which daily budgets are compared with. */
    spent_today: z.array(z.object({ key_id: z.string(), tokens: z.int() })),
    /** Over the same seven days, in the console; owners see all people, others themselves. */
    by_person: z.array(z.object({ user_id: z.string(), ...tokens })),
    /** Over the same seven days: whose models answered. */
    by_channel: z.array(z.object({ channel: z.string(), ...tokens })),
  }),
)
export type UsageResponse = z.infer<typeof UsageResponse>
