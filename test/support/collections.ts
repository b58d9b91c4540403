import { expect } from 'bun:test'
import { type Call, caller } from './api.ts'
import type { TestApp } from './app.ts'
import { postSse } from './sse.ts'

/** A tenant of its own with collections, documents in them, and apps bound to some. */
export type Named = { readonly id: string }

export const TEXT = '月球基地的备用密码是蓝色香蕉42。'
export const ASK = '月球基地的备用密码是什么？'

let tenants = 0

export async function collectionTenant(app: TestApp) {
  const email = `c${tenants++}@example.com`
  const general = await app.key(email)
  const me = caller(`${app.url}/v1`, general.headers)

  const make = async (path: string, body: object, call = me) => {
    const answer = await call<Named>('POST', path, body)
    expect([answer.status, answer.text]).toEqual([201, expect.any(String)])
    return answer.json().id
  }

  return {
    email,
    general,
    me,
    collection: (name: string) => make('/kb/collections', { name }),
    doc: (title: string, text: string, collection_id?: string | null) =>
      make('/kb/docs', { title, text, ...(collection_id === undefined ? {} : { collection_id }) }),

    /** An app with a key. */
    async appOf(collections: unknown) {
      const id = await make('/apps', { name: `app-${crypto.randomUUID()}`, collections })
      const issued = (await me<{ key: string }>('POST', `/apps/${id}/keys`, {})).json()
      const headers = { authorization: `Bearer ${issued.key}` }
      return { id, headers, call: caller(`${app.url}/v1`, headers) }
    },

    /** The events of a turn. */
    async turn(headers: Record<string, string>, body: object) {
      const stream = await postSse(`${app.url}/v1/agent`, { headers, body })
      return (await stream.all()).map(({ data }) => data)
    },

    async upload(name: string, text: string, fields: Record<string, string>, headers?: object) {
      const form = new FormData()
      for (const [field, value] of Object.entries(fields)) form.set(field, value)
      form.set('file', new File([text], name))
      const init = { method: 'POST', headers: { ...general.headers, ...headers }, body: form }
      const answer = await fetch(`${app.url}/v1/kb/files`, init)
      type Uploaded = { id: string; collection_id: string | null }
      const source = (await answer.json().catch(() => ({}))) as Uploaded
      await app.jobs.idle()
      return { status: answer.status, ...source }
    },
  }
}

export const refsOf = (events: readonly Record<string, unknown>[]) =>
  ((events.find(({ type }) => type === 'kb_refs')?.refs ?? []) as { doc_id: string }[]).map(
    ({ doc_id }) => doc_id,
  )

/** Calls a tool by MCP. */
export async function mcpCall(call: Call, name: string, args: object) {
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }
  const accept = { accept: 'application/json, text/event-stream' }
  const { text } = await call('POST', '/mcp', body, accept)
  const { result } = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text) as {
    result: { isError?: boolean; content: { text: string }[] }
  }
  const { isError = false, content } = result
  return { isError, text: content[0]?.text ?? '' }
}
