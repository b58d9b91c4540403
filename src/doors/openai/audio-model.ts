import { z } from 'zod'
import { issue } from '../../core/errors.ts'
import { requiredText } from '../../core/fields.ts'
import { TTS_TEXT_CHARS_MAX, VOICE_ID_CHARS_MAX } from '../../core/limits/contract.ts'
import { charCount } from '../../core/text.ts'

const SPEED_MIN = 0.25
const SPEED_MAX = 4

/** Content types by `response_format`. */
export const SPEECH_TYPES = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
  opus: 'audio/ogg',
} as const

const SPEED = { error: issue('unsupported_value', { field: 'speed' }) }

const voiceId = z
  .string({ error: issue('field_type', { field: 'voice', kind: 'string' }) })
  .refine((value) => charCount(value) <= VOICE_ID_CHARS_MAX, {
    error: issue('field_too_long', { field: 'voice', max: VOICE_ID_CHARS_MAX }),
  })

/** As JSON Schema. */
const VOICE_FORMS = [
  { type: 'string' as const },
  { type: 'object' as const, properties: { id: { type: 'string' as const } }, required: ['id'] },
  { type: 'null' as const },
]

/** Body of POST /v1/audio/speech. */
export const SpeechRequest = z.lazy(() =>
  z.object({
    input: requiredText('input', TTS_TEXT_CHARS_MAX),
    voice: z
      .preprocess((value) => (isNamed(value) ? value.id : value), voiceId.nullish())
      .meta({ description: 'The id of a voice', anyOf: VOICE_FORMS }),
    response_format: z
      .enum(['mp3', 'wav', 'pcm', 'opus'], { error: issue('speech_format') })
      .nullish()
      .transform((value) => value ?? 'mp3'),
    speed: z.number(SPEED).min(SPEED_MIN, SPEED).max(SPEED_MAX, SPEED).nullish(),
    stream_format: z
      .enum(['audio', 'sse'], { error: issue('unsupported_value', { field: 'stream_format' }) })
      .nullish(),
  }),
)
export type SpeechRequest = z.infer<typeof SpeechRequest>

const isNamed = (value: unknown): value is { id: unknown } =>
  typeof value === 'object' && value !== null && 'id' in value

const unsupported = (field: string) => ({ error: issue('unsupported_value', { field }) })

const FORMATS = ['json', 'text', 'verbose_json', 'srt', 'vtt'] as const
const TEMPERATURE_MAX = 1
const GRANULARITIES = 'timestamp_granularities[]'

/** Text fields of POST /v1/audio/transcriptions, which has a form. */
export const TranscriptionFields = z.object({
  response_format: z.enum(FORMATS, unsupported('response_format')).default('json'),
  language: z
    .string()
    .regex(/^[A-Za-z]{2,20}(-[A-Za-z0-9]{1,8}){0,3}$/, unsupported('language'))
    .optional(),
  prompt: z.string().optional(),
  temperature: z.coerce
    .number(unsupported('temperature'))
    .min(0, unsupported('temperature'))
    .max(TEMPERATURE_MAX, unsupported('temperature'))
    .meta({ type: 'number' })
    .optional(),
  stream: z
    .enum(['true', 'false', '1', '0'], unsupported('stream'))
    .default('false')
    .transform((value) => value === 'true' || value === '1'),
  [GRANULARITIES]: z
    .string()
    .optional()
    .transform((value = 'segment') => value.split(','))
    .refine(
      (values) => values.every((value) => value === 'word' || value === 'segment'),
      unsupported(GRANULARITIES),
    )
    .meta({ type: 'array', items: { enum: ['word', 'segment'] } }),
})
export type TranscriptionFields = z.infer<typeof TranscriptionFields>

const seconds = z.number().min(0)

const Segment = z.lazy(() =>
  z.object({
    id: z.int(),
    seek: z.int(),
    start: seconds,
    end: seconds,
    text: z.string(),
    tokens: z.array(z.int()),
    temperature: z.number(),
    avg_logprob: z.number(),
    compression_ratio: z.number(),
    no_speech_prob: z.number(),
  }),
)

/** The JSON answers: `json` and `verbose_json`. */
export const TranscriptionResponse = z.lazy(() =>
  z.union([
    z.object({ text: z.string() }),
    z.object({
      task: z.literal('transcribe'),
      language: z.string(),
      duration: seconds,
      text: z.string(),
      segments: z.array(Segment),
      words: z.array(z.object({ word: z.string(), start: seconds, end: seconds })).optional(),
    }),
  ]),
)
