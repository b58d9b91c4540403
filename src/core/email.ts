import { z } from 'zod'
import { issue } from './errors.ts'
import { EMAIL_CHARS_MAX } from './limits/contract.ts'

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

/** A field of a body that holds an address, in its canonical spelling. */
export const emailAddress = z.string().transform((value, context) => {
  const email = normalEmail(value)
  if (email !== null) return email
  context.addIssue({ code: 'custom', message: issue('email_invalid') })
  return z.NEVER
})
