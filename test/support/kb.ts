import { expect } from 'bun:test'
import type { TestKey } from './app.ts'

/** Calls the knowledge base of a server on `/v1`. */
export function kbClient(url: () => string) {
  async function call(key: TestKey, method: string, path: string, body?: unknown) {
    const response = await fetch(`${url()}/v1/kb${path}`, {
      method,
      headers: { ...key.headers, 'content-type': 'application/json' },
      ...(body === undefined
        ? {}
        : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const json = response.headers.get('content-type')?.startsWith('application/json')
    return { status: response.status, text, body: json ? JSON.parse(text) : null }
  }
  return {
    call,
    add: (key: TestKey, title: string, text: string) => call(key, 'POST', '/docs', { title, text }),
    search: (key: TestKey, q: string) => call(key, 'POST', '/search', { q }),
  }
}

/** Expects a short Chinese sentence as text/plain, without internal details. */
export function expectRefusal(answer: { status: number; text: string }, status: number) {
  expect([answer.status, answer.text]).toEqual([status, expect.stringMatching(/^[^\n<>{}]{2,80}$/)])
  expect(answer.text).toMatch(/\p{Script=Han}/u)
  expect(answer.text).not.toMatch(/SECRET|http|sqlite|\/src\//i)
}
