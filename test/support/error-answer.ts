import { ERRORS } from '../../src/core/error-table.ts'
import { AppError, type ErrorCode } from '../../src/core/errors.ts'

interface Refusal {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/**
 * How an answer of 4xx or 5xx breaks the table of errors; null when it does not: its code is listed
 * and its body is the sentence of that code with the values of `X-Error-Params`, or has it as the
 * message of an error in the form of OpenAI.
 */
export function errorProblem({ status, headers, text }: Refusal): string | null {
  const code = headers.get('x-error-code')
  if (code === null) return `${status} without X-Error-Code: ${text.slice(0, 200)}`
  if (!Object.hasOwn(ERRORS, code)) return `${status} with a code that is not listed: ${code}`
  const params = new URLSearchParams(headers.get('x-error-params') ?? '')
  const listed = new AppError(code as ErrorCode, Object.fromEntries(params))
  if (listed.status !== status) return `${code} with ${status} in place of ${listed.status}`
  const said = headers.get('content-type') === 'application/json' ? sentenceIn(text) : text
  return listed.message === said ? null : `${code} says ${text.slice(0, 200)}`
}

const sentenceIn = (text: string): unknown => JSON.parse(text)?.error?.message

/** Whether this is an error of a protocol in the form of JSON-RPC (`/v1/mcp`). */
export function isRpcError({ headers, text }: Refusal): boolean {
  if (headers.get('content-type') !== 'application/json') return false
  const { jsonrpc, error } = JSON.parse(text)
  return jsonrpc === '2.0' && Number.isInteger(error?.code) && typeof error.message === 'string'
}
