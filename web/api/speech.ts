import { ApiError, open, upload } from './client.ts'

/** Recognises a recording. Throws `ApiError`. */
export async function transcribe(recording: Blob, signal: AbortSignal): Promise<string> {
  const response = await upload('/console/asr', recording, signal)
  return ((await response.json()) as { text: string }).text
}

/** The text as speech, an mp3. Throws `ApiError`. */
export async function speak(text: string, signal: AbortSignal): Promise<Blob> {
  return (await open('/console/tts', { text }, signal)).blob()
}

/** The text as speech while it is made: signed 16-bit samples, 32 kHz, mono. Throws `ApiError`. */
export async function speakStream(
  text: string,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  const { body, status } = await open('/console/tts/stream', { text }, signal)
  if (!body) throw new ApiError('', status)
  return body
}
