import { z } from 'zod'
import { issue } from '../../core/errors.ts'
import { EMAIL_CHARS_MAX } from '../../core/limits/contract.ts'

/** The domain of people at the server's own terminal, to whom no mail is sent. */
export const LOCAL_DOMAIN = '@localhost'

const LOCAL = /^[a-z0-9._+-]+@localhost$/i
const address = z.email()

/**
 * The canonical spelling of an e-mail address, or null when it is malformed. Only ASCII addresses
 * are lower-cased: some letters of other scripts turn into ASCII letters, which would make the
 * addresses of two people equal.
 */
export function normalEmail(text: string): string | null {
  const email = text.trim()
  if (email.length > EMAIL_CHARS_MAX) return null
  if (!LOCAL.test(email) && !address.safeParse(email).success) return null
  return email.toLowerCase()
}

export const EmailStartRequest = z.object({
  email: z.string().transform((value, context) => {
    const email = normalEmail(value)
    if (email !== null) return email
    context.addIssue({ code: 'custom', message: issue('email_invalid') })
    return z.NEVER
  }),
})

export const EmailVerifyRequest = z.object({ email: z.string(), code: z.string() })

export const ExchangeRequest = z.object({ code: z.string(), code_verifier: z.string() })

export const EmailStartResponse = z.object({ sent: z.literal(true) })

export const Me = z.object({
  user_id: z.string(),
  email: z.string(),
  tenant_id: z.string(),
  /** Whether this person runs the server (contract-2, section 8, Operator). */
  operator: z.boolean(),
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
