import type { z } from 'zod'
import { type AppError, appError, errorOfIssue } from './errors.ts'

/**
 * The first problem of a body as an error that names the field. A rule of ours carries its error
 * in its message (`issue`); every other message is zod's.
 */
function explain(error: z.ZodError): AppError {
  const problem = error.issues[0]
  if (!problem) return appError('invalid_request')
  const ours = errorOfIssue(problem.message)
  if (ours) return ours
  const field = problem.path.map(String).join('.').slice(0, 60) || '请求体'
  if (problem.code === 'invalid_type') {
    if (problem.input === undefined) return appError('field_missing', { field })
    return appError('field_type', { field, kind: problem.expected })
  }
  if (problem.code === 'too_big')
    return appError('field_too_big', { field, max: Number(problem.maximum) })
  if (problem.code === 'too_small')
    return appError('field_too_small', { field, min: Number(problem.minimum) })
  return appError('field_invalid', { field })
}

/** The output of `schema`; throws a 400 for the first problem. */
export function checked<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const parsed = schema.safeParse(value)
  if (!parsed.success) throw explain(parsed.error)
  return parsed.data
}
