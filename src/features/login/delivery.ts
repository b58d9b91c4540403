import { type Mailer, MailFailure } from '../../channels/ports/mail.ts'
import { LOGIN_CODE_SECONDS_MAX } from '../../core/limits/contract.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import { LOCAL_DOMAIN } from './model.ts'

export interface DeliveryOptions {
  /** Null when no mail is set up. */
  readonly mailer: Mailer | null
  /** Shows a code on the server's own terminal. */
  readonly print: (email: string, code: string) => void
  /** Where people sign in; only what the operator set, never what a request's Host says. */
  readonly site: string | undefined
  readonly log: Logger
}

/** Takes login codes to people: by mail, else to the operator's terminal (contract, E-mail). */
export function createDelivery({ mailer, print, site, log }: DeliveryOptions) {
  return {
    medium: mailer ? ('mail' as const) : ('terminal' as const),

    /** A mail that fails is logged, and the person asks again. */
    async deliver(email: string, code: string, signal: AbortSignal): Promise<void> {
      if (!mailer || email.endsWith(LOCAL_DOMAIN)) return print(email, code)
      try {
        await mailer.send({ to: email, subject: SUBJECT, text: letter(code, site) }, signal)
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
