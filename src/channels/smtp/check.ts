import { createTransport } from 'nodemailer'
import { orAborted } from '../../core/abort.ts'

/** Why an SMTP server cannot be used. */
export type SmtpFault = 'connection_failed' | 'timeout' | 'refuses_login' | 'no_smtp'

const FAULTS: Readonly<Record<string, SmtpFault>> = {
  ESOCKET: 'connection_failed',
  ECONNECTION: 'connection_failed',
  EDNS: 'connection_failed',
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
    return FAULTS[String((error as { code?: unknown }).code)] ?? 'no_smtp'
  } finally {
    transport.close()
  }
}
