import { checkSmtp, type SmtpFault } from '../../channels/smtp/mailer.ts'
import type { Config } from '../../config.ts'
import { parseUntrustedJson } from '../../core/json.ts'
import { isNearHost } from '../../core/near-host.ts'
import { readStart, type UpstreamFetch } from '../../upstream/net/upstream-call.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

/** A discovery document has a few kilobytes. */
const ISSUER_BYTES_MAX = 1024 * 1024

const FAULTS: Readonly<Record<SmtpFault, readonly [string, string]>> = {
  connection_failed: ['cannot be reached', 'check host and port of MB_SMTP_URL'],
  tls: ['has no encryption that this machine trusts', 'check the host name, its certificate, port'],
  timeout: ['does not answer in time', 'check MB_SMTP_URL: smtp:// is port 587, smtps:// 465'],
  refuses_login: ['refuses the user or the password', 'check both in MB_SMTP_URL'],
  no_smtp: ['gives no answer of a mail server', 'check MB_SMTP_URL: smtp:// or smtps://, and port'],
}

/** Checks the mail server without sending a mail. */
export async function checkMail(config: Config, signal: AbortSignal): Promise<Finding> {
  const name = 'Mail'
  if (config.MB_SMTP_URL === undefined)
    return ok(
      name,
      'none; the server prints login codes. Set it in the browser, Server → Mail and sign-in',
    )
  const fault = await checkSmtp(config.MB_SMTP_URL, signal)
  if (fault === null) return ok(name, 'the server takes mail from us')
  const [text, mend] = FAULTS[fault]
  return fail(name, `the server of MB_SMTP_URL ${text}`, mend)
}

/** Checks that people can sign in: by the configured issuer, and with the cookie they get. */
export async function checkLogin(
  config: Config,
  fetch: UpstreamFetch,
  signal: AbortSignal,
): Promise<Finding[]> {
  const name = 'Login'
  const site = config.MB_PUBLIC_URL
  const findings: Finding[] = []
  if (site && isPlain(site) && dropsCookies(site, config.MB_COOKIE_SECURE)) {
    const mend = 'serve https, or set MB_COOKIE_SECURE=false on a network of your own'
    findings.push(warn(name, 'browsers drop a secure cookie of MB_PUBLIC_URL, plain http', mend))
  }
  const issuer = config.MB_OIDC_ISSUER
  if (issuer && !(await isIssuer(issuer, fetch, signal))) {
    const text = 'MB_OIDC_ISSUER gives no /.well-known/openid-configuration'
    findings.push(fail(name, text, 'check MB_OIDC_ISSUER, and that its host can be reached'))
  }
  return findings
}

/** Whether browsers drop the session cookie that comes by plain http from this address. */
const dropsCookies = (site: string, secure: Config['MB_COOKIE_SECURE']) =>
  secure === 'true' || (secure === 'auto' && !isNearHost(new URL(site).hostname))

/** Whether the address is plain http on a host that browsers do not treat as local. */
function isPlain(site: string): boolean {
  const { protocol, hostname } = new URL(site)
  return protocol === 'http:' && !/^(localhost|127\..*|\[::1\])$/.test(hostname)
}

async function isIssuer(issuer: string, fetch: UpstreamFetch, signal: AbortSignal) {
  try {
    const path = '/.well-known/openid-configuration'
    const answer = await fetch(issuer.replace(/\/$/, '') + path, { signal })
    const text = await readStart(answer, ISSUER_BYTES_MAX)
    const document = parseUntrustedJson(text) as { issuer?: unknown } | null
    return answer.ok && typeof document?.issuer === 'string'
  } catch {
    return false
  }
}
