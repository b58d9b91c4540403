import { expect } from 'bun:test'
import OpenAI, { APIError, toFile } from 'openai'
import type { TestApp, TestKey } from './app.ts'

/** The official client as people set it up, with its retries. */
export const openAiClient = ({ url }: TestApp, { key: apiKey }: Pick<TestKey, 'key'>) =>
  new OpenAI({ apiKey, baseURL: `${url}/v1` })

/** What a call of the client throws. */
export async function refusalOf(call: PromiseLike<unknown>): Promise<APIError> {
  const thrown = await call.then(
    () => null,
    (error: unknown) => error,
  )
  expect(thrown).toBeInstanceOf(APIError)
  return thrown as APIError
}

/** Transcribes a recording; `fields` are those of the form, whatever the client's types say. */
export async function hear(
  client: OpenAI,
  bytes: Uint8Array,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<unknown> {
  const file = await toFile(bytes, 'a.wav')
  const body = { file, model: 'whisper-1', ...fields } as never
  return await client.audio.transcriptions.create(body)
}
