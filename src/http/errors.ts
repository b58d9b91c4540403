import { Elysia } from 'elysia'
import { AppError, badRequest, internal, methodNotAllowed, notFound } from '../core/errors.ts'
import { errorFields, type Logger } from '../core/log.ts'
import type { Facts } from './facts.ts'

export interface ErrorOptions {
  readonly log: Logger
  readonly facts: Facts
  /** Methods that a path answers; empty when it answers none. */
  readonly methodsOf: (path: string) => readonly string[]
}

/**
 * Every error of every route leaves here: a short Chinese sentence as text/plain (contract, Error
 * bodies). What was unexpected goes to the server log and stays out of the answer.
 */
export const errorHandler = ({ log, facts, methodsOf }: ErrorOptions) =>
  new Elysia({ name: 'errors' }).onError(
    { as: 'global' },
    ({ error, code, set, request, path }) => {
      const failure =
        error instanceof AppError
          ? error
          : code === 'NOT_FOUND'
            ? missing(methodsOf(path))
            : code === 'PARSE'
              ? badRequest('请求体格式错误（bad request body）')
              : hasLeft(error, request)
                ? badRequest('连接已断开，请求未完成')
                : unexpected(error, facts.of(request)?.requestId, request.method, path, log)
      facts.note(request, { errorClass: failure.code })
      set.status = failure.status
      set.headers['content-type'] = 'text/plain; charset=utf-8'
      for (const [name, value] of Object.entries(failure.headers)) set.headers[name] = value
      return failure.message
    },
  )

function missing(methods: readonly string[]): AppError {
  return methods.length > 0 ? methodNotAllowed(methods) : notFound('路径不存在')
}

/** The client went away, in the middle of its body or of the work: nobody's fault here. */
const hasLeft = (error: unknown, { signal }: Request): boolean =>
  signal.aborted && error instanceof Error && error.name === 'AbortError'

/** The id stands in the answer, too, so that a complaint leads to its log line. */
function unexpected(
  error: unknown,
  id: string | undefined,
  method: string,
  path: string,
  log: Logger,
): AppError {
  log.error('request failed', { id, method, path: path.slice(0, 200), ...errorFields(error) })
  return internal(error)
}
