import type { ChatFile } from '../../src/features/files/model.ts'

export type Headers = Readonly<Record<string, string>>

/** Calls the files of conversations, on `/v1` or with a cookie on `/console`. */
export function filesClient(url: () => string) {
  const baseOf = (headers: Headers) => `${url()}${'cookie' in headers ? '/console' : '/v1'}`

  async function call(headers: Headers, method: string, path: string, init: RequestInit = {}) {
    const response = await fetch(`${baseOf(headers)}/files${path}`, {
      ...init,
      method,
      headers: { ...headers, origin: url(), ...(init.headers as Record<string, string>) },
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    const code = response.headers.get('x-error-code')
    return { status: response.status, code, text, body: isJson ? JSON.parse(text) : null }
  }

  function upload(headers: Headers, content: string | Uint8Array, name = '手册.txt') {
    const form = new FormData()
    form.set('file', new File([content as BlobPart], name))
    return call(headers, 'POST', '', { body: form })
  }

  const get = async (headers: Headers, id: string): Promise<ChatFile> =>
    (await call(headers, 'GET', `/${id}`)).body

  return {
    call,
    upload,
    get,
    keep: (headers: Headers, id: string, body?: object) =>
      call(headers, 'POST', `/${id}/keep`, {
        headers: { 'content-type': 'application/json' },
        ...(body ? { body: JSON.stringify(body) } : {}),
      }),
    /** Uploads a file; resolves with it once it has been read or has failed. */
    async ingest(headers: Headers, content: string | Uint8Array, name?: string) {
      const { status, text, body } = await upload(headers, content, name)
      if (status !== 202) throw new Error(`${status} ${text}`)
      for (let file: ChatFile = body; ; file = await get(headers, file.id)) {
        if (file.state !== 'reading') return file
        await Bun.sleep(10)
      }
    },
  }
}
