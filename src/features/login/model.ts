import { z } from 'zod'
import { emailAddress } from '../../core/email.ts'
import type { Role } from '../../core/principal.ts'

export const EmailStartRequest = z.lazy(() => z.object({ email: emailAddress }))

export const EmailVerifyRequest = z.lazy(() => z.object({ email: z.string(), code: z.string() }))

export const ExchangeRequest = z.lazy(() =>
  z.object({ code: z.string(), code_verifier: z.string() }),
)

/** What the page that asks for consent sends. */
export const ConsentForm = z.lazy(() =>
  z.object({
    code_challenge: z.string(),
    code_challenge_method: z.literal('S256'),
    app_scheme: z.string(),
    consent: z.string(),
  }),
)

export const EmailStartResponse = z.lazy(() => z.object({ sent: z.literal(true) }))

const role = z.enum(['owner', 'editor', 'viewer'] satisfies Role[])

export const SwitchRequest = z.lazy(() => z.object({ tenant_id: z.string() }))

export const Me = z.lazy(() =>
  z.object({
    user_id: z.string(),
    email: z.string(),
    tenant_id: z.string(),
    /** Whether this person runs the server. */
    operator: z.boolean(),
    /** The role in the current tenant. */
    role,
    /** All tenants of the person. */
    tenants: z.array(z.object({ id: z.string(), name: z.string(), role })),
    /** What this person has used today (UTC) in the console of the current tenant. */
    tokens_today: z.int(),
    /** What they may use a day; 0: no limit. */
    daily_tokens: z.int(),
  }),
)
export type Me = z.infer<typeof Me>

export const LogoutResponse = z.lazy(() => z.object({ ok: z.literal(true) }))

export const ExchangeResponse = z.lazy(() =>
  z.object({ api_key: z.string(), tenant_id: z.string() }),
)

export const LoginMethods = z.lazy(() =>
  z.object({
    email: z.boolean(),
    /** Where codes go: `terminal` is the server's own, used without MB_SMTP_URL. */
    email_delivery: z.enum(['mail', 'terminal']),
    /** `failing`: a mail of the last ten minutes could not be sent. */
    mail: z.enum(['ok', 'failing', 'terminal']),
    oauth: z.array(z.object({ id: z.string(), name: z.string() })),
    /** False also where the server has no name of its own, such as at an IP address. */
    passkey: z.boolean(),
  }),
)
export type LoginMethods = z.infer<typeof LoginMethods>
