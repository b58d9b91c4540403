import type { TestApp, TestKey } from './app.ts'

type Key = Pick<TestKey, 'key' | 'headers'>

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: Record<string, unknown>
}

/** Calls the device endpoints with the key of `owner` unless another key is given. */
export function deviceClient<K extends Key = TestKey>(app: Pick<TestApp, 'url'>, owner: K) {
  async function call(
    method: string,
    path: string,
    body?: unknown,
    key: Key = owner,
  ): Promise<Answer> {
    const response = await fetch(`${app.url}/v1/devices${path}`, {
      method,
      headers: { ...key.headers, 'content-type': 'application/json' },
      ...(body === undefined
        ? {}
        : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const { status, headers } = response
    const json = headers.get('content-type')?.includes('json')
    return { status, headers, text, body: json && JSON.parse(text) }
  }

  const activate = (code: unknown) =>
    fetch(`${app.url}/v1/devices/activate`, { method: 'POST', body: JSON.stringify({ code }) })

  async function register(fields: object = {}): Promise<{ id: string; code: string }> {
    const { body } = await call('POST', '', { name: '客厅', ...fields })
    return { id: String(body.id), code: String(body.activation_code) }
  }

  /** A registered device and its activated key. */
  async function pair(fields: object = {}) {
    const { id, code } = await register(fields)
    const { key } = await (await activate(code)).json()
    const device: K = { ...owner, key, headers: { authorization: `Bearer ${key}` } }
    return { id, code, device }
  }

  return { call, activate, register, pair }
}

export type DeviceClient = ReturnType<typeof deviceClient<TestKey>>
