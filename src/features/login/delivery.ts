import { LOCAL_DOMAIN } from '../../core/email.ts'
import { LOGIN_CODE_SECONDS_MAX } from '../../core/limits/contract.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import { type Mail, type Mailer, MailFailure } from '../../upstream/ports/mail.ts'

export interface DeliveryOptions {
  /** Null without MB_SMTP_URL. */
  readonly mailer: { readonly current: Mailer | null }
  /** Shows a code on the server's own terminal. */
  readonly print: (email: string, code: string) => void
  /** The address in the mail. Only MB_PUBLIC_URL: a request's Host header could be forged. */
  readonly site: () => string | undefined
  readonly log: Logger
}

/** Sends login codes by mail, else prints them on the server's terminal. */
export function createDelivery({ mailer, print, site, log }: DeliveryOptions) {
  async function send(mail: Mail, signal: AbortSignal, fault: string): Promise<void> {
    try {
      await mailer.current?.send(mail, signal)
    } catch (error) {
      const why =
        error instanceof MailFailure ? { code: error.code, reply: error.reply } : errorFields(error)
      log.warn(fault, { domain: mail.to.slice(mail.to.lastIndexOf('@')), ...why })
    }
  }

  return {
    medium: () => (mailer.current ? ('mail' as const) : ('terminal' as const)),

    /** Invites by mail. Of the inviter it contains only the address, which is verified. */
    async invite(email: string, inviter: string, signal: AbortSignal): Promise<void> {
      const text = invitation(inviter, site())
      await send({ to: email, subject: INVITATION, text }, signal, 'invitation not sent')
    },

    /** Logs a failed mail and does not retry: the person can ask for another code. */
    async deliver(email: string, code: string, signal: AbortSignal): Promise<void> {
      if (!mailer.current || email.endsWith(LOCAL_DOMAIN)) return print(email, code)
      const text = letter(code, site())
      await send({ to: email, subject: SUBJECT, text }, signal, 'login mail not sent')
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

const INVITATION = 'Moonbase 邀请 / invitation'

const invitation = (inviter: string, site: string | undefined) =>
  `${inviter} 邀请您加入其 Moonbase 工作空间。用本邮箱登录并接受邀请即可加入；如不认识对方，请忽略本邮件。

${inviter} invites you to their Moonbase workspace. Sign in with this address and accept it.
If you do not know them, ignore this mail.
${site === undefined ? '' : `\n${site}\n`}`
