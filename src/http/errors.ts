import { Elysia } from 'elysia'
import { AppError, appError, encodeParams, internalError } from '../core/errors.ts'
import { errorFields, type Logger } from '../core/log.ts'
import { errorFormOf } from './error-forms.ts'
import type { RequestContexts } from './observe.ts'

export interface ErrorOptions {
  readonly log: Logger
  readonly contexts: RequestContexts
  /** Methods that a path answers; empty when it answers none. */
  readonly methodsOf: (path: string) => readonly string[]
  /** The console's page for an unknown address; null when the client wants the error itself. */
  readonly missing: (request: Request, path: string) => Response | null
}

/**
 * Answers every error of every route with the sentence and the code of the table, as JSON on the
 * paths of APIs of others. Unexpected errors are written to the server log and stay out of the
 * answer.
 */
export const errorHandler = (options: ErrorOptions) =>
  new Elysia({ name: 'errors' }).onError(
    { as: 'global' },
    ({ error, code, set, request, path, route }) => {
      const failure = failureOf({ error, code, request, path, route }, options)
      options.contexts.note(request, { errorClass: failure.errorClass })
      const unknown = code === 'NOT_FOUND' && failure.status === 404
      const page = unknown ? options.missing(request, path) : null
      if (page) return page
      set.status = failure.status
      set.headers['content-type'] = 'text/plain; charset=utf-8'
      set.headers['x-error-code'] = failure.code
      const params = encodeParams(failure.params)
      if (params !== '') set.headers['x-error-params'] = params
      const form = errorFormOf(request)
      if (form) Object.assign(set.headers, form.headers(failure))
      Object.assign(set.headers, failure.headers)
      const id = options.contexts.of(request)?.requestId ?? ''
      return form ? JSON.stringify(form.body(failure, id)) : failure.message
    },
  )

interface Fault {
  readonly error: unknown
  /** Elysia's code for it. */
  readonly code: unknown
  readonly request: Request
  readonly path: string
  /** The route's pattern; empty when none matched. Not the path, which can hold a session id. */
  readonly route: string | undefined
}

/**
 * The error of the answer. An unexpected one is logged with the request id, which users can report.
 */
function failureOf({ error, code, request, path, route }: Fault, options: ErrorOptions): AppError {
  const { log, contexts, methodsOf } = options
  if (error instanceof AppError) return error
  if (code === 'NOT_FOUND') return missing(methodsOf(path))
  if (code === 'PARSE') return appError('invalid_json')
  if (hasLeft(error, request)) return appError('client_closed')
  const id = contexts.of(request)?.requestId
  const { method } = request
  log.error('request failed', { id, method, route, ...errorFields(error) })
  return internalError(error)
}

function missing(methods: readonly string[]): AppError {
  if (methods.length === 0) return appError('not_found', { what: 'path' })
  return appError('method_not_allowed', {}, { headers: { allow: methods.join(', ') } })
}

/** The client disconnected; not an error. */
const hasLeft = (error: unknown, { signal }: Request): boolean =>
  signal.aborted && error instanceof Error && error.name === 'AbortError'

export interface RouteName {
  readonly method: string
  readonly path: string
}

/**
 * The methods of a path, so that a wrong one is 405 with `Allow` instead of 404. `routesOf` is
 * asked with the first path, when all routes are known.
 */
export function createMethodsOf(routesOf: () => readonly RouteName[]) {
  let rows: { method: string; pattern: RegExp }[] | null = null
  return (path: string): string[] => {
    rows ??= routesOf().map(({ method, path }) => ({ method, pattern: patternOf(path) }))
    const methods = rows.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)
    return [...new Set(methods)].sort()
  }
}

function patternOf(path: string): RegExp {
  const parts = path
    .split('/')
    .slice(1)
    .map((part) => {
      if (part === '*') return '/.*'
      if (part.startsWith(':')) return part.endsWith('?') ? '(?:/[^/]*)?' : '/[^/]+'
      return `/${part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`
    })
  return new RegExp(`^${parts.join('')}/?$`)
}
