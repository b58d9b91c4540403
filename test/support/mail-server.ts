import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'

export interface ReceivedMail {
  readonly from: string
  readonly to: readonly string[]
  /** Headers and body, unchanged. */
  readonly raw: string
}

/**
 * A real SMTP server that keeps the mail it receives. With `refuses` it rejects all recipients
 * alike, and in any case `nobody`, who has no mailbox, and the sender `denied`. A login needs
 * `password`.
 */
export async function startMailServer({
  password = '',
  secure = false,
  nobody = '',
  denied = '',
} = {}) {
  const mails: ReceivedMail[] = []
  const waiting: ((mail: ReceivedMail) => void)[] = []
  const state = { refuses: false }
  const server = new SMTPServer({
    authOptional: true,
    secure,
    disabledCommands: ['STARTTLS'],
    onAuth: (auth, _, done) =>
      auth.password === password ? done(null, { user: 'user' }) : done(new Error('wrong password')),
    onMailFrom: ({ address }, _, done) =>
      done(address === denied ? new Error('5.7.1 not your address') : null),
    onRcptTo({ address }, _, done) {
      if (state.refuses) return done(new Error(`no such mailbox ${address}`))
      done(address === nobody ? new Error('5.1.1 no such mailbox') : null)
    },
    onData(stream, session, done) {
      let raw = ''
      stream.setEncoding('utf8')
      stream.on('data', (text: string) => {
        raw += text
      })
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope
        const mail = {
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo.map(({ address }) => address),
          raw,
        }
        mails.push(mail)
        waiting.shift()?.(mail)
        done()
      })
    },
  })
  // A client that does not trust the certificate hangs up.
  server.on('error', () => {})
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve())
  })
  const { port } = server.server.address() as AddressInfo
  return {
    url: `${secure ? 'smtps' : 'smtp'}://127.0.0.1:${port}`,
    mails,
    state,
    /** Resolves with the next mail. */
    next: () => new Promise<ReceivedMail>((resolve) => waiting.push(resolve)),
    stop: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}
