import { connectionError } from './client.ts'

export interface RawAnswer {
  readonly status: number
  readonly type: string
  readonly text: string
  readonly ms: number
}

/** Sends one request of the API reference; throws `ApiError` where no answer comes. */
export async function tryRequest(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string | null,
): Promise<RawAnswer> {
  const started = performance.now()
  const response = await fetch(path, {
    method,
    body,
    headers: { ...headers, ...(body === null ? {} : { 'content-type': 'application/json' }) },
  }).catch(() => {
    throw connectionError()
  })
  const type = response.headers.get('content-type') ?? ''
  const readable = /json|text|xml|event-stream/.test(type)
  const text = readable ? await response.text() : `${(await response.blob()).size} bytes`
  return { status: response.status, type, text, ms: Math.round(performance.now() - started) }
}
