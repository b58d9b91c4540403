/** A refusal of the server: its sentence, and what to do next. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    words: string,
    /** Seconds of Retry-After; null without the header. */
    readonly retryAfterS: number | null,
    activating: boolean,
  ) {
    super(`${status} ${words}\n${adviceOn(status, activating)}`)
  }
}

/** The server did not answer. */
export class Unreachable extends Error {}

const PAIR = 'open Devices in the console, choose New code, and start again with --code'

const ADVICE: Readonly<Record<number, string>> = {
  400: 'The request was not understood: an empty sound or text, or a program that is too old.',
  401: `The key of this device is no longer valid: it was cut off. To pair again, ${PAIR}.`,
  403: `This is not the key of a device. To pair, ${PAIR}.`,
  404: 'There is no such endpoint: is this the address of a Moonbase server?',
  410: `The code was used before, and works once only. For another, ${PAIR}.`,
  413: 'The recording is too large or too long (25 MB, 15 minutes). Record less.',
  429: 'Too many requests in this minute. Wait, then go on.',
  502:
    'Nothing was understood, or a service behind the server failed. Say it again; ' +
    'if that does not help, look at /status of the server.',
  503: 'The server is busy at the moment. Try again shortly.',
}

const BAD_CODE = `The code is wrong, older than 15 minutes, or was replaced. For another, ${PAIR}.`

const adviceOn = (status: number, activating: boolean): string =>
  activating && status === 401 ? BAD_CODE : (ADVICE[status] ?? 'Try again later.')

const UNTRUSTED = /CERT|SELF_SIGNED|VERIFY|ISSUER|ALTNAME/i

/** Explains a failed connection. */
export function unreachable(origin: string, error: unknown): Unreachable {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const mend = UNTRUSTED.test(code)
    ? 'Its certificate is not trusted here: give the CA that signed it with --ca.'
    : 'Is the address right, does the server listen there (MB_HOST=0.0.0.0), ' +
      'is this the same network?'
  return new Unreachable(`${origin} was not reached (${code || 'no answer'}). ${mend}`)
}
