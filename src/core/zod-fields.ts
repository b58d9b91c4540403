import { z } from 'zod'
import { RATE_LIMIT_DEFAULT, RATE_LIMIT_MAX, TEMPERATURE_MAX } from './limits/contract.ts'
import { charCount } from './text.ts'

/** Field rules that several resources share. Lengths count code points after trimming. */

/** A lone surrogate has no UTF-8 form, so it is replaced before anything looks at the text. */
const trimmed = (error: string) =>
  z
    .string({ error })
    .trim()
    .overwrite((value) => value.toWellFormed())

/** Trimmed, not blank, at most `charsMax`. */
export const requiredText = (name: string, charsMax: number) =>
  trimmed(`字段 ${name} 必填，应为字符串`)
    .refine((value) => value.length > 0, { error: `${name} 不能为空` })
    .refine((value) => charCount(value) <= charsMax, {
      error: `${name} 过长（最多 ${charsMax} 个字符）`,
    })
    .meta({ minLength: 1, maxLength: charsMax })

/** Null, absent or blank mean "not given". */
export const nullableText = (name: string, charsMax: number) =>
  trimmed(`字段 ${name} 类型错误，应为字符串或 null`)
    .refine((value) => charCount(value) <= charsMax, {
      error: `${name} 过长（最多 ${charsMax} 个字符）`,
    })
    .meta({ maxLength: charsMax })
    .transform((value) => (value === '' ? null : value))
    .nullable()
    .default(null)

/** May be absent but not null; at most `charsMax`, without a limit where its user checks it. */
export const optionalText = (name: string, charsMax = Infinity) =>
  trimmed(`字段 ${name} 类型错误，应为字符串`)
    .refine((value) => value.length <= charsMax || charCount(value) <= charsMax, {
      error: `${name} 过长（最多 ${charsMax} 个字符）`,
    })
    .meta(Number.isFinite(charsMax) ? { maxLength: charsMax } : {})
    .optional()

/** Absent means `fallback`. */
export const optionalFlag = (name: string, fallback: boolean) =>
  z.boolean({ error: `字段 ${name} 类型错误，应为布尔值` }).default(fallback)

/** Null and absent mean "not given". */
export const nullableFlag = (name: string) =>
  z
    .boolean({ error: `字段 ${name} 类型错误，应为布尔值或 null` })
    .nullable()
    .default(null)

const TEMPERATURE = `字段 temperature 应为 0 到 ${TEMPERATURE_MAX} 的数字或 null`

/** Sampling temperature; null and absent mean that none is sent. */
export const nullableTemperature = z
  .number({ error: TEMPERATURE })
  .min(0, { error: TEMPERATURE })
  .max(TEMPERATURE_MAX, { error: TEMPERATURE })
  .nullable()
  .default(null)

const RATE = `字段 rate_limit 应为 0 到 ${RATE_LIMIT_MAX} 的整数（0 表示不限）`

/** Requests a minute of a key; above the maximum clamped, 0 unlimited (specification, Limits). */
export const rateLimit = z
  .number({ error: RATE })
  .refine((value) => Number.isInteger(value) && value >= 0, { error: RATE })
  .transform((value) => Math.min(value, RATE_LIMIT_MAX))
  .default(RATE_LIMIT_DEFAULT)

/**
 * A query number that falls to its default when it is no positive integer, and is clamped above.
 */
export function clampedLimit(value: string | null, fallback: number, most: number): number {
  if (value === null || !/^\d+$/.test(value) || Number(value) < 1) return fallback
  return Math.min(Number(value), most)
}
