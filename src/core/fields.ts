import { z } from 'zod'
import { charCount } from './text.ts'

/** Field rules that several resources share. Lengths count code points after trimming. */

/** Trimmed, not blank, at most `charsMax`. */
export const requiredText = (name: string, charsMax: number) =>
  z
    .string({ error: `字段 ${name} 必填，应为字符串` })
    .trim()
    .refine((value) => value.length > 0, { error: `${name} 不能为空` })
    .refine((value) => charCount(value) <= charsMax, {
      error: `${name} 过长（最多 ${charsMax} 个字符）`,
    })

/** Null, absent or blank mean "not given". */
export const nullableText = (name: string, charsMax: number) =>
  z
    .string({ error: `字段 ${name} 类型错误，应为字符串或 null` })
    .trim()
    .refine((value) => charCount(value) <= charsMax, {
      error: `${name} 过长（最多 ${charsMax} 个字符）`,
    })
    .transform((value) => (value === '' ? null : value))
    .nullable()
    .default(null)

/**
 * A query number that falls to its default when it is no positive integer, and is clamped above.
 */
export function clampedLimit(value: string | null, fallback: number, most: number): number {
  if (value === null || !/^\d{1,9}$/.test(value) || Number(value) < 1) return fallback
  return Math.min(Number(value), most)
}
