import { appError } from '../../core/errors.ts'
import { checked } from '../../core/fields.ts'
import { joinBytes } from '../../core/large-bytes.ts'
import { AUDIO_BYTES_MAX } from '../../core/limits/contract.ts'
import { EVERYONE } from '../../core/principal.ts'
import { charCount } from '../../core/text.ts'
import type { Voice } from '../../features/voice/service.ts'
import type { UploadContext } from '../../http/body.ts'
import type { Gated } from '../../http/gate.ts'
import { readForm } from '../../http/multipart.ts'
import type { RequestContexts } from '../../http/observe.ts'
import { openAiStream } from '../../http/openai-answers.ts'
import {
  answerDoc,
  EVENTS_CONTENT,
  formDoc,
  jsonContent,
  textContent,
} from '../../http/openapi-parts.ts'
import { withoutIdleTimeout } from '../../http/request-limits.ts'
import type { AsrHints, AudioClip, Transcript } from '../../upstream/ports/speech.ts'
import { TranscriptionFields, TranscriptionResponse } from './audio-model.ts'
import { srtOf, type TimedTranscript, timed, verboseOf, vttOf } from './transcripts.ts'

export interface TranscriptionRouteOptions {
  readonly voice: Voice
  readonly contexts: RequestContexts
}

const ANSWER_DOC = answerDoc('What was said, as response_format and stream say', {
  ...jsonContent(TranscriptionResponse),
  ...textContent('text/plain', 'text/vtt'),
  ...EVENTS_CONTENT,
})

/** POST /v1/audio/transcriptions, as clients of OpenAI's API call it. */
export const transcriptionRoutes = (on: Gated, { voice, contexts }: TranscriptionRouteOptions) =>
  on.post(
    '/audio/transcriptions',
    async ({ principal, request, upload, server }) => {
      const { bytes, fields } = await receive(request, upload)
      const clip = { bytes, tenantId: principal.tenantId }
      const heard = await withoutIdleTimeout(request, server, () =>
        transcribe(voice, clip, fields, request.signal),
      )
      contexts.note(request, { textChars: charCount(heard.text) })
      return fields.stream ? openAiStream(eventsOf(heard), () => {}) : answerOf(heard, fields)
    },
    {
      allow: EVERYONE,
      parse: 'none',
      detail: {
        summary: 'Recognise speech, as OpenAI does',
        requestBody: formDoc(TranscriptionFields),
        responses: ANSWER_DOC,
      },
    },
  )

/** The form: 413 for a recording over the limit, 400 for an empty one and for unknown values. */
async function receive(request: Request, upload: UploadContext) {
  const chunks: Uint8Array[] = []
  const texts = await readForm(request, upload, {
    file: 'file',
    fields: Object.keys(TranscriptionFields.shape),
    fileBytesMax: AUDIO_BYTES_MAX,
    async onFile(file) {
      for await (const chunk of file.bytes) {
        upload.timer(chunk.length)
        chunks.push(chunk)
      }
    },
  })
  await upload.confirm()
  const given = [...texts].filter(([, value]) => value.trim() !== '')
  const fields = checked(TranscriptionFields, Object.fromEntries(given))
  const bytes = await joinBytes(chunks)
  if (bytes.length === 0) throw appError('audio_empty', {}, { param: 'file' })
  return { bytes, fields }
}

const withWords = (fields: TranscriptionFields) =>
  fields['timestamp_granularities[]'].includes('word')

const noWords = () => appError('unsupported_value', { field: 'timestamp_granularities[]' })

/** The transcript, with the times that the response format needs. */
async function transcribe(
  voice: Voice,
  clip: AudioClip,
  fields: TranscriptionFields,
  signal: AbortSignal,
): Promise<TimedTranscript> {
  const wantsWords = withWords(fields)
  if (wantsWords && !voice.tellsWords()) throw noWords()
  const heard = await voice.transcribe(clip, signal, hintsOf(fields))
  if (wantsWords && !heard.words && heard.text !== '') throw noWords()
  return timed(heard, await durationOf(voice, clip, heard, fields, signal))
}

function hintsOf(fields: TranscriptionFields): AsrHints {
  const { language, prompt, temperature, response_format: format } = fields
  const hasTimes = format !== 'json' && format !== 'text'
  const times = withWords(fields) ? 'words' : hasTimes ? 'segments' : undefined
  return {
    ...(language !== undefined && { language }),
    ...(prompt !== undefined && { prompt }),
    ...(temperature !== undefined && { temperature }),
    ...(times && { times }),
  }
}

/** The duration that the engine reports, else that of the recording; 0 when it is not needed. */
async function durationOf(
  voice: Voice,
  clip: AudioClip,
  { duration, segments }: Transcript,
  { response_format: format, stream }: TranscriptionFields,
  signal: AbortSignal,
): Promise<number> {
  if (duration !== undefined) return duration
  const isUsed = format === 'verbose_json' || (format !== 'json' && format !== 'text' && !segments)
  return isUsed && !stream ? await voice.duration(clip, signal) : 0
}

const plain = (text: string, type: string) =>
  new Response(text, { headers: { 'content-type': `${type}; charset=utf-8` } })

function answerOf(heard: TimedTranscript, fields: TranscriptionFields): Response {
  switch (fields.response_format) {
    case 'json':
      return Response.json({ text: heard.text })
    case 'text':
      return plain(`${heard.text}\n`, 'text/plain')
    case 'srt':
      return plain(srtOf(heard), 'text/plain')
    case 'vtt':
      return plain(vttOf(heard), 'text/vtt')
    case 'verbose_json': {
      const language = heard.language ?? fields.language ?? ''
      return Response.json(verboseOf(heard, language, withWords(fields)))
    }
  }
}

async function* eventsOf({ text }: TimedTranscript) {
  if (text !== '') yield { type: 'transcript.text.delta', delta: text }
  yield { type: 'transcript.text.done', text }
}
