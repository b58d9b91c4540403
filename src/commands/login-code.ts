import type { Clock } from '../core/clock.ts'
import { LOGIN_CODE_SECONDS_MAX } from '../core/limits/contract.ts'
import { createLogger } from '../core/log.ts'

export interface CodePrinterOptions {
  readonly clock: Clock
  /** Whether the output is a terminal. */
  readonly terminal: boolean
  readonly write: (text: string) => void
}

/**
 * Prints login codes on the server's output when no mail server is set (contract, E-mail), at any
 * MB_LOG_LEVEL: without them nobody could sign in.
 */
export function codePrinter({ clock, terminal, write }: CodePrinterOptions) {
  const now = () => new Date(clock.now())
  const log = createLogger({ level: 'info', json: true, now, write })
  return (email: string, code: string): void => {
    if (terminal) write(block(email, code))
    else log.info('login code', { email, code })
  }
}

const block = (email: string, code: string) => `
  ┌ Sign-in code for ${email}
  │
  │     ${code}
  │
  └ valid for ${LOGIN_CODE_SECONDS_MAX / 60} minutes

`
