import type { Config } from '../config.ts'
import type { Mailer } from '../upstream/ports/mail.ts'
import type { LiveSettings } from './live-settings.ts'

/** The mail server in use; null without one. */
export const openMail = (live: LiveSettings) =>
  live.part(['MB_SMTP_URL', 'MB_MAIL_FROM'], openMailer, async (mailer) => mailer?.close())

/** The mail client is loaded with the first mail: it takes longer to load than everything else. */
export function openMailer(config: Config): Mailer | null {
  const url = config.MB_SMTP_URL
  if (url === undefined) return null
  const from = config.MB_MAIL_FROM ?? defaultFrom(url)
  let loading: Promise<Mailer> | null = null
  const load = async () =>
    (await import('../channels/smtp/mailer.ts')).createSmtpMailer({ url, from })
  return {
    async send(mail, signal) {
      loading ??= load()
      await (await loading).send(mail, signal)
    },
    close: async () => (await loading)?.close(),
  }
}

/** The sender: the account at the mail server, else an address at its host. */
function defaultFrom(smtpUrl: string): string {
  const { username, hostname } = new URL(smtpUrl)
  const user = decodeURIComponent(username)
  return `Moonbase <${user.includes('@') ? user : `moonbase@${hostname}`}>`
}
