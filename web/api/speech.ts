import { open, upload } from './client.ts'

/** Recognises a recording. Throws `ApiError`. */
export async function transcribe(recording: Blob, signal: AbortSignal): Promise<string> {
  const response = await upload('/console/asr', recording, signal)
  return ((await response.json()) as { text: string }).text
}

/** The text as speech, an mp3. Throws `ApiError`. */
export async function speak(text: string, signal: AbortSignal): Promise<Blob> {
  return (await open('/console/tts', { text }, signal)).blob()
}
