import { expect } from 'bun:test'
import { connect } from 'node:net'
import type { CarriedDocument } from '../../src/features/transfer/document.ts'
import type { ConfigExport, ImportResult } from '../../src/features/transfer/model.ts'
import type { TestApp, TestKey } from './app.ts'

export type Export = Omit<ConfigExport, 'exported_at'> & { documents: CarriedDocument[] }

/** Files with documents, as an import takes them. */
export const file = (...documents: unknown[]) => ({ format_version: 1, documents })
export const typed = (title: string, text = `${title}的内容`) => ({ title, text })
/** A file of two documents. */
export const twoParts = (id: string, title: string) =>
  [1, 2].map((part) => ({
    ...typed(`${title} (${part}/2)`),
    ...{ part, parts: 2, source: { id, kind: 'file', title } },
  }))

/** Exports and imports knowledge bases of a server on `/v1`. */
export function carrier(app: () => TestApp) {
  async function exported(key: TestKey): Promise<Export> {
    const answer = await fetch(`${app().url}/v1/export?kb=1`, { headers: key.headers })
    expect(answer.status).toBe(200)
    const { exported_at: _, ...file } = (await answer.json()) as ConfigExport & Export
    return file
  }

  async function send(key: TestKey, file: BodyInit, query = '') {
    const { headers } = key
    const url = `${app().url}/v1/import?kb=1${query}`
    const answer = await fetch(url, { method: 'POST', headers, body: file })
    const text = await answer.text()
    return { status: answer.status, text, code: answer.headers.get('x-error-code') }
  }

  async function load(key: TestKey, file: unknown, query = ''): Promise<ImportResult> {
    const { status, text } = await send(key, JSON.stringify(file), query)
    expect([status, text]).toEqual([200, expect.any(String)])
    return JSON.parse(text)
  }

  /** Sends the beginning of a body, and the rest when it is told to. */
  async function slowly(key: TestKey, begin: string) {
    const socket = connect(Number(new URL(app().url).port), '127.0.0.1')
    let received = ''
    const closed = Promise.withResolvers<string>()
    socket.on('data', (bytes) => {
      received += bytes
      if (/\r\n\r\n.*\S/s.test(received)) socket.end()
    })
    socket.on('error', () => {})
    socket.on('close', () => closed.resolve(received))
    const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
    const lines = [
      ...['POST /v1/import?kb=1 HTTP/1.1', 'Host: x', 'Transfer-Encoding: chunked'],
      ...[`Authorization: ${key.headers.authorization}`, '', chunk(begin)],
    ]
    socket.write(lines.join('\r\n'))
    return {
      socket,
      more: (text: string) => socket.write(chunk(text)),
      end: () => socket.write(chunk('')),
      answer: closed.promise,
    }
  }

  return { exported, send, load, slowly }
}
