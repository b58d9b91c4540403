import { createTransport } from 'nodemailer'
import { orAborted } from '../../core/abort.ts'
import { randomToken } from '../../core/crypto.ts'
import { type Mailer, MailFailure } from '../../upstream/ports/mail.ts'

export interface SmtpOptions {
  /** `smtp://` (STARTTLS when offered) or `smtps://`, with user and password if needed. */
  readonly url: string
  readonly from: string
}

const CONNECTIONS_MAX = 3
const CONNECT_MS_MAX = 10_000
const SILENCE_MS_MAX = 20_000

/** Sends mail through an SMTP server, over at most three connections. */
export function createSmtpMailer({ url, from }: SmtpOptions): Mailer {
  const transport = createTransport(
    {
      url,
      pool: true,
      maxConnections: CONNECTIONS_MAX,
      connectionTimeout: CONNECT_MS_MAX,
      greetingTimeout: CONNECT_MS_MAX,
      socketTimeout: SILENCE_MS_MAX,
      disableFileAccess: true,
      disableUrlAccess: true,
    },
    { from, headers: { 'Auto-Submitted': 'auto-generated' } },
  )
  const domain = from.slice(from.lastIndexOf('@') + 1).replace(/>$/, '')
  return {
    async send({ to, subject, text }, signal) {
      try {
        const messageId = `<${randomToken(18)}@${domain}>`
        const address = { name: '', address: to }
        const sending = transport.sendMail({ to: address, subject, text, messageId })
        await orAborted(sending, signal)
      } catch (error) {
        if (signal.aborted) throw new MailFailure('EABORTED', null)
        throw failureOf(error as SmtpError)
      }
    },
    close: async () => transport.close(),
  }
}

interface SmtpError {
  readonly code?: unknown
  readonly responseCode?: unknown
  readonly response?: unknown
  readonly command?: unknown
  readonly message?: unknown
}

/** The client names a broken handshake as any other broken connection; only its text differs. */
const OF_TLS =
  /certificate|self[- ]signed|SSL|TLS|unable to verify|wrong version number|hostname\/IP does not/i

/** The code of the mail client, and `ETLS`, `ESENDER` where it has none of their own. */
function codeOf({ code, command, message }: SmtpError): string {
  if (code === 'EENVELOPE' && command === 'MAIL FROM') return 'ESENDER'
  if (code === 'ESOCKET' && OF_TLS.test(String(message))) return 'ETLS'
  return typeof code === 'string' ? code : 'ESEND'
}

/**
 * A permanent reply about the address (X.1.x, but not the sender's) or the mailbox (X.2.x) of a
 * recipient (RFC 3463, sections 3.2 and 3.3). One without such a code may concern everybody.
 */
const OF_RECIPIENT = /^5\d\d[ -]5\.(?:1\.(?!7\b|8\b)\d{1,3}|2\.\d{1,3})\b/

const failureOf = (error: SmtpError) => {
  const { responseCode, response, command } = error
  return new MailFailure(
    codeOf(error),
    typeof responseCode === 'number' ? responseCode : null,
    command === 'RCPT TO' && typeof response === 'string' && OF_RECIPIENT.test(response),
  )
}

/** Why an SMTP server cannot be used. */
export type SmtpFault = 'connection_failed' | 'tls' | 'timeout' | 'refuses_login' | 'no_smtp'

const FAULTS: Readonly<Record<string, SmtpFault>> = {
  ESOCKET: 'connection_failed',
  ECONNECTION: 'connection_failed',
  EDNS: 'connection_failed',
  ETLS: 'tls',
  EAUTH: 'refuses_login',
  ENOAUTH: 'refuses_login',
}

/** Connects and logs in without sending a mail. Null when that works. Never throws. */
export async function checkSmtp(url: string, signal: AbortSignal): Promise<SmtpFault | null> {
  const transport = createTransport({ url, disableFileAccess: true, disableUrlAccess: true })
  try {
    await orAborted(transport.verify(), signal)
    return null
  } catch (error) {
    if (signal.aborted) return 'timeout'
    return FAULTS[codeOf(error as SmtpError)] ?? 'no_smtp'
  } finally {
    transport.close()
  }
}
