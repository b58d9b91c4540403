import type { Answer } from './endpoint.ts'
/** The body as text, cut off after `bytesMax`; nothing more is read from the upstream. */
export async function readStart(response: Answer, bytesMax: number): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  const reader = response.body?.getReader()
  while (reader) {
    const { done, value } = await reader.read()
    if (done) break
    parts.push(value)
    size += value.length
    if (size >= bytesMax) await reader.cancel()
  }
  return new TextDecoder().decode(Buffer.concat(parts).subarray(0, bytesMax))
}
