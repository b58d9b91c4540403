import { createTransport } from 'nodemailer'
import { randomToken } from '../../core/crypto.ts'
import { type Mailer, MailFailure } from '../mail.ts'

export interface SmtpOptions {
  /** `smtp://` (STARTTLS when offered) or `smtps://`, with user and password when needed. */
  readonly url: string
  readonly from: string
}

const CONNECTIONS_MAX = 3
const CONNECT_MS_MAX = 10_000
const SILENCE_MS_MAX = 20_000

/** Mail through an SMTP server, a few connections at a time. */
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
        await unlessAborted(sending, signal)
      } catch (error) {
        if (error instanceof MailFailure) throw error
        const { code, responseCode } = error as { code?: unknown; responseCode?: unknown }
        throw new MailFailure(
          typeof code === 'string' ? code : 'ESEND',
          typeof responseCode === 'number' ? responseCode : null,
        )
      }
    },
    close: async () => transport.close(),
  }
}

/** What `work` comes to, or a rejection as soon as the signal aborts. */
async function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const stop = Promise.withResolvers<never>()
  const refuse = () => stop.reject(new MailFailure('EABORTED', null))
  if (signal.aborted) refuse()
  signal.addEventListener('abort', refuse, { once: true })
  try {
    return await Promise.race([work, stop.promise])
  } finally {
    signal.removeEventListener('abort', refuse)
  }
}
