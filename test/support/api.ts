import type { TestApp } from './app.ts'
import { signIn } from './login.ts'

export interface Answer<Body> {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The parsed body of a JSON answer, taken for a `Body`; throws for any other. */
  json(): Body
}

/** Calls the API with one credential; `body` is sent as JSON unless it is text or a Blob. */
export type Call = <Body = Record<string, unknown>>(
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<Answer<Body>>

export function caller(base: string, credential: Readonly<Record<string, string>>): Call {
  return async <Body>(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ) => {
    const raw = typeof body === 'string' || body instanceof Blob
    const response = await fetch(base + path, {
      method,
      headers: { ...credential, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: raw ? body : JSON.stringify(body) }),
      redirect: 'manual',
    })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: () => JSON.parse(text) as Body,
    }
  }
}

/** Both surfaces lead to the same handlers. */
export const SURFACES = ['/v1', '/console'] as const
export type Surface = (typeof SURFACES)[number]

/** Calls one surface as the tenant of `email`: with a general key, or as a signed-in person. */
export async function surfaceOf(app: TestApp, surface: Surface, email: string): Promise<Call> {
  const { headers } = surface === '/v1' ? await app.key(email) : await app.person(email)
  return caller(app.url + surface, headers)
}

/** Credentials of one tenant for both surfaces, by surface. */
export async function credentials(
  app: TestApp,
  email = 'a@example.com',
): Promise<Record<Surface, Record<string, string>>> {
  const { headers: machine } = await app.key(email)
  const { headers: person } = await signIn(app, email)
  return { '/v1': { ...machine }, '/console': { ...person } }
}
