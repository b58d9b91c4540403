import { type Clock, MINUTE_MS } from '../../core/clock.ts'
import type { Announcer } from '../../storage/shared-state.ts'

export interface MailHealthOptions {
  readonly clock: Pick<Clock, 'steady'>
  /** Tells other servers, and hears of them. */
  readonly announcer: Pick<Announcer, 'announce' | 'on'>
}

/** How long a mail that could not be sent is held against the mail server. */
const HELD_MS = 10 * MINUTE_MS

/** Whether mail goes out, by how the last mails ended, at any server. */
export function createMailHealth({ clock, announcer }: MailHealthOptions) {
  let failedAt: number | null = null
  const hear = (word: string) => {
    failedAt = word === 'failed' ? clock.steady() : null
  }
  announcer.on('mail', async (word) => hear(word))

  const isFailing = () => failedAt !== null && clock.steady() - failedAt < HELD_MS

  return {
    isFailing,

    async failed(): Promise<void> {
      hear('failed')
      await announcer.announce('mail', 'failed')
    },

    async went(): Promise<void> {
      if (failedAt === null) return
      hear('went')
      await announcer.announce('mail', 'went')
    },
  }
}

export type MailHealth = ReturnType<typeof createMailHealth>
