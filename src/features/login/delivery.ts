import { type Mailer, MailFailure } from '../../channels/ports/mail.ts'
import { LOGIN_CODE_SECONDS_MAX } from '../../core/limits/contract.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import { LOCAL_DOMAIN } from './model.ts'

export interface DeliveryOptions {
  /** Null without MB_SMTP_URL. */
  readonly mailerNow: () => Mailer | null
  /** Shows a code on the server's own terminal. */
  readonly print: (email: string, code: string) => void
  /** The address in the mail. Only MB_PUBLIC_URL: a request's Host header could be forged. */
  readonly site: () => string | undefined
  readonly log: Logger
}

/** Sends login codes by mail, else prints them on the server's terminal (contract, E-mail). */
export function createDelivery({ mailerNow, print, site, log }: DeliveryOptions) {
  return {
    medium: () => (mailerNow() ? ('mail' as const) : ('terminal' as const)),

    /** Logs a failed mail and does not retry: the person can ask for another code. */
    async deliver(email: string, code: string, signal: AbortSignal): Promise<void> {
      const mailer = mailerNow()
      if (!mailer || email.endsWith(LOCAL_DOMAIN)) return print(email, code)
      try {
        await mailer.send({ to: email, subject: SUBJECT, text: letter(code, site()) }, signal)
      } catch (error) {
        const why =
          error instanceof MailFailure
            ? { code: error.code, reply: error.reply }
            : errorFields(error)
        log.warn('login mail not sent', { domain: email.slice(email.lastIndexOf('@')), ...why })
      }
    },
  }
}

export type Delivery = ReturnType<typeof createDelivery>

const SUBJECT = 'Moonbase 登录验证码 / sign-in code'
const MINUTES = LOGIN_CODE_SECONDS_MAX / 60

const letter = (code: string, site: string | undefined) =>
  `您的 Moonbase 登录验证码：${code}
${MINUTES} 分钟内有效，只能使用一次。如非本人操作，请忽略本邮件；不要把验证码告诉任何人。

Your Moonbase sign-in code: ${code}
Valid for ${MINUTES} minutes, once. If you did not ask for it, ignore this mail.
Share it with nobody.
${site === undefined ? '' : `\n${site}\n`}`
