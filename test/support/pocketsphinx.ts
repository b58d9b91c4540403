import { writeFileSync } from 'node:fs'
import { RECOGNISER_RATE } from '../../src/upstream/ports/speech.ts'
import { wav } from './recordings.ts'
import { codecs } from './speech-codecs.ts'
import { tempFolder } from './temp.ts'

/** A real recogniser: CMU PocketSphinx with its English model, choosing between given phrases. */
export const RECOGNISER = Bun.which('pocketsphinx_continuous')

export async function recognise(bytes: Uint8Array, phrases: readonly string[]): Promise<string> {
  using folder = tempFolder()
  const pcm: Uint8Array[] = []
  const { signal } = new AbortController()
  for await (const part of codecs.decode({ bytes, tenantId: 't' }, RECOGNISER_RATE, signal))
    pcm.push(part)
  const samples = new Int16Array(new Uint8Array(Buffer.concat(pcm)).buffer)
  const floats = Float32Array.from(samples, (value) => value / 32_768)
  writeFileSync(folder.file('sound.wav'), wav(RECOGNISER_RATE, floats))
  const rule = `#JSGF V1.0;\ngrammar phrases;\npublic <phrase> = ${phrases.join(' | ')};\n`
  writeFileSync(folder.file('phrases.jsgf'), rule)
  const child = Bun.spawn(
    [
      ...[RECOGNISER ?? '', '-infile', folder.file('sound.wav')],
      ...['-jsgf', folder.file('phrases.jsgf'), '-logfn', folder.file('log')],
    ],
    { stdout: 'pipe', stderr: 'ignore' },
  )
  return (await new Response(child.stdout).text()).trim()
}

/** PocketSphinx behind the interface of OpenAI's `POST /audio/transcriptions`. */
export function startRecogniser(phrases: readonly string[]) {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const file = (await request.formData()).get('file')
      if (!(file instanceof Blob)) return new Response('no file', { status: 400 })
      return Response.json({ text: await recognise(await file.bytes(), phrases) })
    },
  })
  return {
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}
