import { decodePcm, TooLong } from './decode-pcm.ts'

/**
 * Decodes one recording outside the server's thread: answers each `next` with one chunk. The parent
 * ends the thread, whatever it is doing then.
 */
export type Ask = { readonly bytes: Uint8Array; readonly rate: number } | 'next'
export type Answer =
  | { readonly type: 'chunk'; readonly pcm: Uint8Array }
  | { readonly type: 'end' }
  | { readonly type: 'failed'; readonly reason: 'unreadable' | 'too_long' }

declare const self: Worker

// The decoders report every damaged frame of an upload to the console, and would fill the log.
Reflect.set(globalThis, 'console', { error() {}, warn() {}, info() {}, log() {}, debug() {} })

let pcm: AsyncGenerator<Uint8Array> | null = null

self.onmessage = async (event: MessageEvent<Ask>) => {
  if (event.data !== 'next') {
    pcm = decodePcm(event.data.bytes, event.data.rate)
    return
  }
  const answer = await step()
  self.postMessage(answer, answer.type === 'chunk' ? [answer.pcm.buffer] : [])
}

async function step(): Promise<Answer> {
  try {
    const result = await pcm?.next()
    return result === undefined || result.done
      ? { type: 'end' }
      : { type: 'chunk', pcm: result.value }
  } catch (error) {
    return { type: 'failed', reason: error instanceof TooLong ? 'too_long' : 'unreadable' }
  }
}
