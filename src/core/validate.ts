import type { z } from 'zod'
import { badRequest } from './errors.ts'

const KINDS: Readonly<Record<string, string>> = {
  string: '字符串',
  number: '数字',
  int: '整数',
  boolean: '布尔值',
  array: '数组',
  object: '对象',
}

/**
 * The first problem of a body as one Chinese sentence that names the field. A message written
 * beside the rule in the schema (one with a Chinese character) is taken as it is.
 */
function explain(error: z.ZodError): string {
  const issue = error.issues[0]
  if (!issue) return '请求参数错误'
  if (/\p{Script=Han}/u.test(issue.message)) return issue.message
  const field = issue.path.map(String).join('.').slice(0, 60) || '请求体'
  if (issue.code === 'invalid_type') {
    if (issue.input === undefined) return `缺少字段 ${field}`
    return `字段 ${field} 类型错误，应为${KINDS[issue.expected] ?? issue.expected}`
  }
  if (issue.code === 'too_big') return `字段 ${field} 超出上限 ${issue.maximum}`
  if (issue.code === 'too_small') return `字段 ${field} 低于下限 ${issue.minimum}`
  return `字段 ${field} 的值无效`
}

/** The value as `schema` gives it back; 400 with the first problem as a sentence otherwise. */
export function checked<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const parsed = schema.safeParse(value)
  if (!parsed.success) throw badRequest(explain(parsed.error))
  return parsed.data
}
