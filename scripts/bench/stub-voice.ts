import { directStream } from './direct-stream.ts'

const STUB_RATE = 24_000
export const STUB_SPEECH_SECONDS = 2
export const STUB_TRANSCRIPT = '现在几点了？'

const FIRST_BYTES = STUB_RATE / 5

/** A changing sound, which costs encoders as much as speech. */
export function sweep(rate: number, seconds: number): Int16Array<ArrayBuffer> {
  let phase = 0
  return Int16Array.from({ length: Math.round(rate * seconds) }, (_, at) => {
    const second = at / rate
    phase += (2 * Math.PI * (300 + 1_500 * (second % 1))) / rate
    return Math.round(9_000 * Math.sin(phase) * (0.6 + 0.4 * Math.sin(second * 20)))
  })
}

const SPEECH = new Uint8Array(sweep(STUB_RATE, STUB_SPEECH_SECONDS).buffer)

/** `POST /audio/speech`: sends the first tenth of a second at once, then the rest. */
export async function stubSpeech(request: Request): Promise<Response> {
  await request.arrayBuffer()
  const body = directStream({
    async pull(controller) {
      controller.write(SPEECH.subarray(0, FIRST_BYTES))
      await controller.flush()
      controller.write(SPEECH.subarray(FIRST_BYTES))
      await controller.end()
    },
    cancel() {},
  })
  return new Response(body, { headers: { 'content-type': `audio/pcm;rate=${STUB_RATE}` } })
}

/** `POST /audio/transcriptions`: reads the recording and always returns the same text. */
export async function stubTranscript(request: Request): Promise<Response> {
  await request.arrayBuffer()
  return Response.json({ text: STUB_TRANSCRIPT })
}
