/** Outgoing mail: plain text to one person. */
export interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
}

export interface Mailer {
  /**
   * Resolves when the next server has taken the mail over; throws `MailFailure`, and at once when
   * the signal aborts.
   */
  send(mail: Mail, signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

/** A mail that was not accepted. Holds codes only: a server's text may repeat what was sent. */
export class MailFailure extends Error {
  override readonly name = 'MailFailure'

  constructor(
    /** Such as `EAUTH`, `ECONNECTION`, `EENVELOPE`. */
    readonly code: string,
    /** The SMTP reply, such as 550; null when there was none. */
    readonly reply: number | null,
    /** The server works and refuses this one recipient, who may not exist. */
    readonly isOfRecipient = false,
  ) {
    super(`mail refused: ${code}`)
  }
}
