/** The code and values of an error. */
export interface ErrorName {
  readonly code: string
  readonly params: Readonly<Record<string, string>>
}

/** An answer other than 2xx; its message is the server's short sentence. */
export class ApiError extends Error {
  override readonly name = 'ApiError'

  constructor(
    message: string,
    /** HTTP status; 0 when the server could not be reached. */
    readonly status: number,
    /** The error code and the values of its sentence; absent in answers of a proxy. */
    readonly error?: ErrorName,
  ) {
    super(message)
  }
}

/** Dispatched on the window when an answer did not come from the server. */
export const UNREACHED = 'mb:unreached'

const unreached = () => void dispatchEvent(new Event(UNREACHED))

/** The error for a connection that failed or broke. */
export function connectionError(): ApiError {
  unreached()
  return new ApiError('', 0)
}

/** Dispatched on the window when the browser has gone to another tenant in another window. */
export const MOVED = 'mb:moved'

/** The header that names the tenant which this window was loaded for; empty until it is known. */
let shownTenant: Readonly<Record<string, string>> = {}

/**
 * The server refuses calls of this window once the browser is in another tenant than the first one
 * that this window has shown.
 */
export function showTenant(id: string): void {
  if (Object.keys(shownTenant).length === 0) shownTenant = { 'x-moonbase-tenant': id }
}

const ofConsole = (path: string) => (path.startsWith('/console/') ? shownTenant : {})

/** Less is the way of an answer, and not a clock that is wrong. */
const WRONG_MS_MIN = 5_000

let ahead = 0

/** The time of the server, as its last answer told it: the clock of this machine may be wrong. */
export const serverNow = (): number => Date.now() + ahead

function noteClock({ headers }: Response): void {
  const at = Date.parse(headers.get('date') ?? '') - Date.now()
  ahead = Math.abs(at) > WRONG_MS_MIN ? at : 0
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

async function answer(input: string, given: RequestInit): Promise<Response> {
  const init = { ...given, headers: { ...given.headers, ...ofConsole(input) } }
  const response = await fetch(input, init).catch((error: Error) => {
    throw init.signal?.aborted && error.name !== TOO_LATE ? error : connectionError()
  })
  noteClock(response)
  if (response.ok) return response
  throw await failureOf(response)
}

async function failureOf(response: Response): Promise<ApiError> {
  const sentence = sentenceOf(response, await response.text())
  const error = errorOf(response.headers)
  if (response.status > 501 && !error) unreached()
  if (error?.code === 'tenant_changed') dispatchEvent(new Event(MOVED))
  return new ApiError(sentence, response.status, error)
}

/** Errors are a sentence; those of OpenAI's paths are JSON. A proxy's page is neither. */
function sentenceOf({ headers }: Response, text: string): string {
  const type = headers.get('content-type') ?? ''
  if (type.startsWith('text/plain')) return text
  if (!type.startsWith('application/json')) return ''
  try {
    const body = JSON.parse(text) as { error?: { message?: unknown } } | null
    const message = body?.error?.message
    return typeof message === 'string' ? message : ''
  } catch {
    return ''
  }
}

function errorOf(headers: Headers): ErrorName | undefined {
  const code = headers.get('x-error-code')
  if (code === null) return undefined
  const params = new URLSearchParams(headers.get('x-error-params') ?? '')
  return { code, params: Object.fromEntries(params) }
}

const json = (body: unknown, init: RequestInit): RequestInit =>
  body === undefined
    ? init
    : {
        ...init,
        body: JSON.stringify(body),
        headers: { ...init.headers, 'content-type': 'application/json' },
      }

const READ_MS = 60_000
const TOO_LATE = 'TimeoutError'

/** Calls the server and reads its JSON; `key` is for machine paths. Throws `ApiError`. */
export async function call<T>(
  method: Method,
  path: string,
  body?: unknown,
  key?: string,
): Promise<T> {
  const bearer = key === undefined ? {} : { authorization: `Bearer ${key}` }
  // What is deleted is deleted, also where the tab closes meanwhile.
  const keepalive = method === 'DELETE'
  // A connection may be gone without a word. What changes something may take its time.
  const signal = method === 'GET' ? AbortSignal.timeout(READ_MS) : null
  const init = { method, keepalive, signal, headers: { accept: 'application/json', ...bearer } }
  const response = await answer(path, json(body, init))
  return (await response.json()) as T
}

const READ_HEADERS = ['content-type', 'x-error-code', 'x-error-params']

/** Posts a form or a file and reports the share sent, up to 1, which `fetch` cannot. */
export async function postFile<T>(
  path: string,
  body: FormData | Blob,
  onSent: (share: number) => void,
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>()
  const request = new XMLHttpRequest()
  request.upload.onprogress = ({ loaded, total }) => onSent(total > 0 ? loaded / total : 0)
  request.onerror = () => reject(connectionError())
  request.onload = () => {
    const known = READ_HEADERS.map((name) => [name, request.getResponseHeader(name)] as const)
    const headers = known.flatMap(([name, value]) => (value === null ? [] : [[name, value]]))
    const { status, responseText } = request
    resolve(new Response(responseText, { status, headers: headers as [string, string][] }))
  }
  request.open('POST', path)
  for (const [name, value] of Object.entries(ofConsole(path))) request.setRequestHeader(name, value)
  request.send(body)
  const response = await promise
  if (!response.ok) throw await failureOf(response)
  return (await response.json()) as T
}

/** As `call`, for answers that are read as a stream. */
export const open = (path: string, body: unknown, signal: AbortSignal): Promise<Response> =>
  answer(path, json(body, { method: 'POST', signal }))

/** As `open`, for a stream that is read again from a place on. */
export const reopen = (path: string, signal: AbortSignal): Promise<Response> =>
  answer(path, { signal })

/** Reads a file that the server makes, with the name that it gives. */
export async function download(
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<{ readonly name: string; readonly blob: Blob }> {
  const response = await answer(path, { headers })
  const disposition = response.headers.get('content-disposition') ?? ''
  const name = /filename="([^"]+)"/.exec(disposition)?.[1] ?? 'download'
  return { name, blob: await response.blob() }
}

/** Posts bytes. */
export const upload = (path: string, bytes: Blob, signal: AbortSignal): Promise<Response> =>
  answer(path, { method: 'POST', body: bytes, signal })

export const segment = (value: string): string => encodeURIComponent(value)

/** In what time the server says something at least. */
export const ANSWER_MS = 10_000

/** Whether the server can be reached at all. */
export const serverAnswers = (): Promise<boolean> =>
  fetch('/healthz', { signal: AbortSignal.timeout(ANSWER_MS) }).then(
    ({ ok }) => ok,
    () => false,
  )
