// The forms of values that settings take.
import { z } from 'zod'
import { SIGN_IN_WAYS, type SignInWay } from './core/sign-in-ways.ts'

export function oneOf<const Values extends readonly [string, ...string[]]>(values: Values) {
  const error = `must be ${values.slice(0, -1).join(', ')} or ${values.at(-1)}`
  return z.enum(values, { error })
}

export const flag = (fallback: boolean) =>
  oneOf(['true', 'false'])
    .default(fallback ? 'true' : 'false')
    .transform((value) => value === 'true')

export const wholeBetween = (least: number, most: number) => {
  const error = `must be a whole number from ${least} to ${most}`
  const isWithin = (value: number) => value >= least && value <= most
  return z.string().regex(/^\d+$/, { error }).transform(Number).refine(isWithin, { error })
}

export const whole = (least: number, most: number, fallback: number) =>
  wholeBetween(least, most).default(fallback)

export const decimal = (least: number, most: number, fallback: number) => {
  const error = `must be a number from ${least} to ${most}`
  const isWithin = (value: number) => value >= least && value <= most
  return z
    .string()
    .regex(/^\d+(\.\d+)?$/, { error })
    .transform(Number)
    .refine(isWithin, { error })
    .default(fallback)
}

export const text = z.string().optional()

/** A secret that is sent in a header, where any other character would make every request fail. */
export const secret = z
  .string()
  .regex(/^[\x20-\x7e]+$/, { error: 'must be printable ASCII characters' })
  .optional()

const url = (schemes: readonly string[]) =>
  z
    .string()
    .refine((value) => hasHost(URL.parse(value), schemes), {
      error: `must be a URL starting with ${schemes.map((s) => `${s}://`).join(' or ')}`,
    })
    .optional()

const hasHost = (value: URL | null, schemes: readonly string[]) =>
  value !== null && schemes.includes(value.protocol.slice(0, -1)) && value.hostname !== ''

export const http = url(['http', 'https'])
export const speech = url(['http', 'https', 'tcp'])

/** The address of one server; special characters of the password are percent-encoded. */
export const database = z
  .string()
  .refine((value) => hasHost(URL.parse(value), ['postgres', 'postgresql']) && isDecodable(value), {
    error: 'must be a URL such as postgres://user:password@host:5432/name',
  })
  .refine((value) => !URL.parse(value)?.hostname.includes(','), { error: 'must name one host' })
  .optional()

export const smtp = url(['smtp', 'smtps']).refine((value) => isDecodable(value ?? ''), {
  error: 'must have %25 for a percent sign in its user and password',
})

function isDecodable(value: string): boolean {
  try {
    decodeURIComponent(value)
    return true
  } catch {
    return false
  }
}

export const list = (fallback: string) =>
  z
    .string()
    .default(fallback)
    .transform((value) =>
      value
        .split(',')
        .map((item) => item.trim())
        .filter(Boolean),
    )

/** Who may sign up: anyone, nobody new, or those in a list of addresses and `@domain`s. */
export const signup = z
  .string()
  .default('open')
  .transform((value) =>
    value === 'open' || value === 'closed'
      ? value
      : value.split(',').flatMap((item) => item.trim().toLowerCase() || []),
  )
  .refine(
    (value) => typeof value === 'string' || value.every((item) => /^[^\s@]*@[^\s@]+$/.test(item)),
    { error: 'must be open, closed, or a comma list of addresses and @domains' },
  )

/** The ways to sign in, at least one. */
export const signin = z
  .string()
  .default(SIGN_IN_WAYS.join())
  .transform((value) => value.split(',').map((item) => item.trim()))
  .refine(
    (ways): ways is SignInWay[] => ways.every((way) => SIGN_IN_WAYS.includes(way as SignInWay)),
    {
      error: `must be a comma list of ${SIGN_IN_WAYS.join(', ')}`,
    },
  )
  .transform((ways) => ways as SignInWay[])

const senderForm = /^(?:[^<>\r\n]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/
export const sender = z
  .string()
  .regex(senderForm, { error: 'must be an address, or a name and an <address>' })
  .optional()

/** Schemes of apps (RFC 3986). A browser's own scheme would send the login code to a page. */
export const appSchemes = list('moonbase').refine(
  (schemes) =>
    schemes.every(
      (scheme) =>
        /^[a-z][a-z0-9+.-]*$/.test(scheme) &&
        !/^(https?|wss?|ftp|file|data|blob|about|javascript|vbscript|mailto)$/.test(scheme),
    ),
  { error: 'must be a comma list of lower-case deep-link schemes' },
)

/** 32 bytes as 64 hex digits or as base64, or the word `off`. */
export const encryptionKey = z
  .string()
  .transform((value) => (value === 'off' ? 'off' : keyBytes(value)))
  .refine((value) => value !== null, { error: 'must be 32 bytes in base64 or hex, or off' })
  .optional()

/** The same forms, or a text of at least 32 characters, taken as it is. */
export const sessionSecret = z
  .string()
  .refine((value) => value.length >= 32, {
    error: 'must be 32 bytes in base64 or hex, or a text of at least 32 characters',
  })
  .transform((value) => keyBytes(value) ?? Buffer.from(value))
  .optional()

function keyBytes(value: string): Buffer | null {
  if (/^[0-9a-fA-F]{64}$/.test(value)) return Buffer.from(value, 'hex')
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(value)) return Buffer.from(value, 'base64')
  return null
}

const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
/** The longest time of a timer. */
const EVERY_MS_MAX = 24 * UNIT_MS.d

/** A time such as `6h` in milliseconds; 0 for another text. */
export function durationMs(text: string): number {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? []
  return unit === undefined ? 0 : Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS]
}

export const every = z
  .string()
  .default('6h')
  .refine((text) => durationMs(text) >= UNIT_MS.s && durationMs(text) <= EVERY_MS_MAX, {
    error: 'must be a number with s, m, h or d, from 1s to 24d',
  })

export const scheduleMin = z
  .string()
  .default('5m')
  .refine((text) => durationMs(text) >= UNIT_MS.m && durationMs(text) <= UNIT_MS.d, {
    error: 'must be a number with s, m, h or d, from 1m to 1d',
  })

export const s3 = z
  .string()
  .regex(/^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[\w!.*'()/-]*)?$/, {
    error: 'must be s3://bucket or s3://bucket/prefix',
  })
  .optional()
