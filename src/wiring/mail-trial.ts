import { type Config, givenSettings, loadConfig } from '../config.ts'
import { LOCAL_DOMAIN } from '../core/email.ts'
import { appError } from '../core/errors.ts'
import type { SettingChange } from '../features/system/service.ts'
import { type Mail, MailFailure } from '../upstream/ports/mail.ts'
import type { Adapters } from './adapters.ts'
import { openMailer } from './mail.ts'

/** A person waits for the answer. */
const TRIAL_MS_MAX = 25_000

export const testMail = (to: string): Mail => ({
  to,
  subject: 'Moonbase 测试邮件 / test mail',
  text: `这封邮件说明 Moonbase 可以发信。

This mail shows that Moonbase can send mail.
`,
})

/** Classes of what keeps a mail from going, by the codes of the mail client. */
const CLASSES: Readonly<Record<string, string>> = {
  ESOCKET: 'connection_failed',
  ECONNECTION: 'connection_failed',
  EDNS: 'connection_failed',
  ETLS: 'tls',
  ETIMEDOUT: 'timeout',
  EABORTED: 'timeout',
  EAUTH: 'refuses_login',
  ENOAUTH: 'refuses_login',
  ESENDER: 'refuses_sender',
  EENVELOPE: 'refuses_mail',
  EMESSAGE: 'refuses_mail',
  EPROTOCOL: 'no_smtp',
}

/**
 * Mail settings are saved once somebody has said who may sign up, since with mail strangers can get
 * codes, and once a test mail has gone to the operator.
 */
export function mailTrial({ env, clock, mailHealth }: Adapters) {
  async function send(config: Config, mail: Mail, signal: AbortSignal): Promise<void> {
    const late = new AbortController()
    const cancel = clock.after(TRIAL_MS_MAX, () => late.abort(new Error('timeout')))
    const mailer = openMailer(config)
    try {
      await mailer?.send(mail, AbortSignal.any([signal, late.signal]))
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof MailFailure)) throw error
      throw appError('mail_failed', { class: CLASSES[error.code] ?? 'error' }, { cause: error })
    } finally {
      cancel()
      void mailer?.close()
    }
  }

  async function check(url: string, signal: AbortSignal): Promise<void> {
    const until = AbortSignal.any([signal, AbortSignal.timeout(TRIAL_MS_MAX)])
    const { checkSmtp } = await import('../channels/smtp/mailer.ts')
    const fault = await checkSmtp(url, until)
    signal.throwIfAborted()
    if (fault !== null) throw appError('mail_failed', { class: fault })
  }

  return async function allow({ before, after, by }: SettingChange): Promise<void> {
    const next = loadConfig(env, after)
    const old = loadConfig(env, before)
    const isSame = old.MB_SMTP_URL === next.MB_SMTP_URL && old.MB_MAIL_FROM === next.MB_MAIL_FROM
    if (isSame || next.MB_SMTP_URL === undefined) return
    const choice = givenSettings(env).MB_SIGNUP ?? after.MB_SIGNUP
    if (choice === undefined) throw appError('signup_choice')
    if (by.untested) return
    // Nothing can be mailed to who signs in at the terminal.
    if (by.email.endsWith(LOCAL_DOMAIN)) return check(next.MB_SMTP_URL, by.signal)
    await send(next, testMail(by.email), by.signal)
    await mailHealth.went()
  }
}
