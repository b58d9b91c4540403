import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'

export interface ReceivedMail {
  readonly from: string
  readonly to: readonly string[]
  /** Headers and body, unchanged. */
  readonly raw: string
}

/**
 * A real SMTP server that keeps the mail it receives. With `refuses` it rejects recipients; a login
 * needs `password`.
 */
export async function startMailServer({ password = '' } = {}) {
  const mails: ReceivedMail[] = []
  const waiting: ((mail: ReceivedMail) => void)[] = []
  const state = { refuses: false }
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onAuth: (auth, _, done) =>
      auth.password === password ? done(null, { user: 'user' }) : done(new Error('wrong password')),
    onRcptTo: (address, _, done) =>
      done(state.refuses ? new Error(`no such mailbox ${address.address}`) : null),
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
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve())
  })
  const { port } = server.server.address() as AddressInfo
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    state,
    /** Resolves with the next mail. */
    next: () => new Promise<ReceivedMail>((resolve) => waiting.push(resolve)),
    stop: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}
