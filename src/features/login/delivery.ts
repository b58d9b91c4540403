import { LOCAL_DOMAIN } from '../../core/email.ts'
import { LOGIN_CODE_SECONDS_MAX } from '../../core/limits/contract.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import { type Mail, type Mailer, MailFailure } from '../../upstream/ports/mail.ts'
import { type Inviting, invitation } from './invitation-mail.ts'
import type { MailHealth } from './mail-health.ts'

export interface DeliveryOptions {
  /** Null without MB_SMTP_URL. */
  readonly mailer: { readonly current: Mailer | null }
  /** Shows a code on the server's own terminal. */
  readonly print: (email: string, code: string) => void
  /** The address in the mail. Only MB_PUBLIC_URL: a request's Host header could be forged. */
  readonly site: () => string | undefined
  readonly log: Logger
  readonly health: MailHealth
  /** Whether this address is an operator's who may sign in. */
  readonly isOperator: (email: string) => Promise<boolean>
  /** Whether anybody runs the server yet. */
  readonly hasOperator: () => Promise<boolean>
}

/** Sends login codes by mail, else prints them on the server's terminal. */
export function createDelivery(options: DeliveryOptions) {
  const { mailer, print, site, log, health, isOperator, hasOperator } = options

  /** False for a mail that could not be sent. */
  async function send(mail: Mail, signal: AbortSignal, fault: string): Promise<boolean> {
    try {
      await mailer.current?.send(mail, signal)
      await health.went()
      return true
    } catch (error) {
      const why =
        error instanceof MailFailure ? { code: error.code, reply: error.reply } : errorFields(error)
      log.warn(fault, { domain: mail.to.slice(mail.to.lastIndexOf('@')), ...why })
      // Else anybody could make mail look broken by the address of nobody.
      if (!(error instanceof MailFailure && error.isOfRecipient)) await health.failed()
      return false
    }
  }

  return {
    medium: () => (mailer.current ? ('mail' as const) : ('terminal' as const)),

    /** Whether mail goes out. */
    state(): 'ok' | 'failing' | 'terminal' {
      if (mailer.current === null) return 'terminal'
      return health.isFailing() ? 'failing' : 'ok'
    },

    /** Invites by mail; resolves with whether the mail server took it. */
    async invite(email: string, by: Inviting, signal: AbortSignal): Promise<boolean> {
      const { subject, text } = invitation(by, site())
      return send({ to: email, subject, text }, signal, 'invitation not sent')
    },

    /** Welcomes somebody whom an operator has added. */
    async welcome(email: string, signal: AbortSignal): Promise<void> {
      const mail = { to: email, subject: WELCOME, text: welcome(site()) }
      await send(mail, signal, 'welcome not sent')
    },

    /**
     * Logs a failed mail and does not retry: the person can ask for another code. While mail fails,
     * the codes of operators are printed, too, and without an operator every code that failed: else
     * nobody could get in to mend the settings.
     */
    async deliver(email: string, code: string, signal: AbortSignal): Promise<void> {
      if (!mailer.current || email.endsWith(LOCAL_DOMAIN)) return print(email, code)
      const text = letter(code, site())
      const early = health.isFailing() && (await isOperator(email))
      if (early) print(email, code)
      const sent = await send({ to: email, subject: SUBJECT, text }, signal, 'login mail not sent')
      if (sent || early) return
      if ((await isOperator(email)) || !(await hasOperator())) print(email, code)
    },
  }
}

export type Delivery = ReturnType<typeof createDelivery>

const SUBJECT = 'Moonbase 登录验证码 / sign-in code'
const MINUTES = LOGIN_CODE_SECONDS_MAX / 60

const letter = (code: string, site: string | undefined) =>
  `你的 Moonbase 登录验证码：${code}
${MINUTES} 分钟内有效，只能使用一次。如非本人操作，请忽略本邮件；不要把验证码告诉任何人。

Your Moonbase sign-in code: ${code}
Valid for ${MINUTES} minutes, once. If you did not ask for it, ignore this mail.
Share it with nobody.
${site === undefined ? '' : `\n${site}\n`}`

const WELCOME = '欢迎使用 Moonbase / Welcome to Moonbase'

const welcome = (site: string | undefined) =>
  `你已被加入 Moonbase，用本邮箱登录即可使用。

You have been added to Moonbase. Sign in with this address.
${site === undefined ? '' : `\n${site}\n`}`
