import type { ProcessOutput } from './process-output.ts'

/** A server without mail, which prints login codes; in this process or another. */
export interface PrintingServer {
  readonly url: string
  readonly printed: ProcessOutput
}

export interface SignedIn {
  readonly me: { readonly user_id: string; readonly email: string; readonly tenant_id: string }
  /** `Cookie` header of the session. */
  readonly headers: { readonly cookie: string }
  /** The unchanged Set-Cookie value. */
  readonly setCookie: string
}

const post = (url: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

/** The codes printed for an address so far, oldest first. */
export function codesFor(email: string, text: string): string[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('{') && line.includes('"login code"'))
    .map((line) => JSON.parse(line) as { event: string; email: string; code: string })
    .filter((entry) => entry.event === 'login code' && entry.email === email)
    .map((entry) => entry.code)
}

/** Requests a code and reads it from the server's output. A server allows 20 a minute. */
export async function requestCode(
  { url, printed }: PrintingServer,
  email: string,
  headers: Record<string, string> = {},
): Promise<string> {
  const before = codesFor(email, printed.text()).length
  const response = await post(`${url}/auth/email/start`, { email }, headers)
  if (response.status !== 200) throw new Error(`start: ${response.status} ${await response.text()}`)
  return printed.until((text) => codesFor(email, text)[before] ?? null)
}

export const verifyCode = (
  { url }: Pick<PrintingServer, 'url'>,
  email: string,
  code: string,
  headers: Record<string, string> = {},
): Promise<Response> => post(`${url}/auth/email/verify`, { email, code }, headers)

/** Signs in as a person does: `const { headers } = await signIn(app, 'a@example.com')`. */
export async function signIn(server: PrintingServer, email = 'a@example.com'): Promise<SignedIn> {
  const response = await verifyCode(server, email, await requestCode(server, email))
  if (response.status !== 200) throw new Error(`verify: ${response.status}`)
  const setCookie = response.headers.get('set-cookie') ?? ''
  const me = (await response.json()) as SignedIn['me']
  return { me, headers: { cookie: setCookie.split(';')[0] ?? '' }, setCookie }
}
