import { z } from 'zod'
import { emailAddress } from '../../core/email.ts'
import type { Role } from '../../core/principal.ts'

export const EmailStartRequest = z.object({ email: emailAddress })

export const EmailVerifyRequest = z.object({ email: z.string(), code: z.string() })

export const ExchangeRequest = z.object({ code: z.string(), code_verifier: z.string() })

/** What the page that asks for consent sends. */
export const ConsentForm = z.object({
  code_challenge: z.string(),
  code_challenge_method: z.literal('S256'),
  app_scheme: z.string(),
  consent: z.string(),
})

export const EmailStartResponse = z.object({ sent: z.literal(true) })

const role = z.enum(['owner', 'editor', 'viewer'] satisfies Role[])

export const SwitchRequest = z.object({ tenant_id: z.string() })

export const Me = z.object({
  user_id: z.string(),
  email: z.string(),
  tenant_id: z.string(),
  /** Whether this person runs the server. */
  operator: z.boolean(),
  /** The role in the current tenant. */
  role,
  /** All tenants of the person. */
  tenants: z.array(z.object({ id: z.string(), name: z.string(), role })),
})
export type Me = z.infer<typeof Me>

export const LogoutResponse = z.object({ ok: z.literal(true) })

export const ExchangeResponse = z.object({ api_key: z.string(), tenant_id: z.string() })

export const LoginMethods = z.object({
  email: z.boolean(),
  /** Where codes go: `terminal` is the server's own, used without MB_SMTP_URL. */
  email_delivery: z.enum(['mail', 'terminal']),
  oauth: z.array(z.object({ id: z.string(), name: z.string() })),
})
export type LoginMethods = z.infer<typeof LoginMethods>
