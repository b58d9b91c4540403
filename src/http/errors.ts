import { Elysia } from 'elysia'
import { AppError, appError, encodeParams, internalError } from '../core/errors.ts'
import { errorFields, type Logger } from '../core/log.ts'
import type { Facts } from './request-context.ts'

export interface ErrorOptions {
  readonly log: Logger
  readonly facts: Facts
  /** Methods that a path answers; empty when it answers none. */
  readonly methodsOf: (path: string) => readonly string[]
  /** A page for an address that answers nothing; null where a sentence is wanted. */
  readonly missing: (request: Request, path: string) => Response | null
}

/**
 * Every error of every route leaves here: a short Chinese sentence as text/plain (contract, Error
 * bodies). What was unexpected goes to the server log and stays out of the answer.
 */
export const errorHandler = (options: ErrorOptions) =>
  new Elysia({ name: 'errors' }).onError(
    { as: 'global' },
    ({ error, code, set, request, path, route }) => {
      const failure = failureOf({ error, code, request, path, route }, options)
      options.facts.note(request, { errorClass: failure.errorClass })
      const unknown = code === 'NOT_FOUND' && failure.status === 404
      const page = unknown ? options.missing(request, path) : null
      if (page) return page
      set.status = failure.status
      set.headers['content-type'] = 'text/plain; charset=utf-8'
      set.headers['x-error-code'] = failure.code
      const params = encodeParams(failure.params)
      if (params !== '') set.headers['x-error-params'] = params
      for (const [name, value] of Object.entries(failure.headers)) set.headers[name] = value
      return failure.message
    },
  )

interface Fault {
  readonly error: unknown
  /** Elysia's own word for it. */
  readonly code: unknown
  readonly request: Request
  readonly path: string
  /** The pattern; empty where none matched. A path can hold the name of a session. */
  readonly route: string | undefined
}

/** What is told of a fault. The log line has the id of the answer, which a complaint may name. */
function failureOf({ error, code, request, path, route }: Fault, options: ErrorOptions): AppError {
  const { log, facts, methodsOf } = options
  if (error instanceof AppError) return error
  if (code === 'NOT_FOUND') return missing(methodsOf(path))
  if (code === 'PARSE') return appError('invalid_json')
  if (hasLeft(error, request)) return appError('client_closed')
  const id = facts.of(request)?.requestId
  const { method } = request
  log.error('request failed', { id, method, route, ...errorFields(error) })
  return internalError(error)
}

function missing(methods: readonly string[]): AppError {
  if (methods.length === 0) return appError('not_found', { what: 'path' })
  return appError('method_not_allowed', {}, { headers: { allow: methods.join(', ') } })
}

/** The client went away, in the middle of its body or of the work: nobody's fault here. */
const hasLeft = (error: unknown, { signal }: Request): boolean =>
  signal.aborted && error instanceof Error && error.name === 'AbortError'
