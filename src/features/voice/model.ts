import { z } from 'zod'
import { issue } from '../../core/errors.ts'
import { optionalFlag, optionalText, requiredText } from '../../core/fields.ts'
import { TTS_TEXT_CHARS_MAX, VOICE_ID_CHARS_MAX } from '../../core/limits/contract.ts'
import { subjectField } from '../../core/subject.ts'
import { DEFAULT_VOICE } from '../../upstream/ports/speech.ts'

const voice = optionalText('voice')
  .refine((value) => (value?.length ?? 0) <= VOICE_ID_CHARS_MAX, {
    error: issue('field_too_long', { field: 'voice', max: VOICE_ID_CHARS_MAX }),
  })
  .transform((value) => value || DEFAULT_VOICE)

/** Body of POST /v1/tts and /v1/tts/stream. */
export const TtsRequest = z.lazy(() =>
  z.object({
    text: requiredText('text', TTS_TEXT_CHARS_MAX),
    voice,
  }),
)
export type TtsRequest = z.infer<typeof TtsRequest>

/** Body of POST /v1/voice. */
export const VoiceRequest = z.lazy(() =>
  z.object({
    /** Checked by `decodeAudio`. */
    audio_b64: z.string({ error: issue('field_required', { field: 'audio_b64', kind: 'string' }) }),
    /** Checked by `sessionId`. */
    session_id: optionalText('session_id'),
    /** Whom the caller speaks for. */
    subject: subjectField,
    voice,
    kb: optionalFlag('kb', true),
    persona_id: optionalText('persona_id'),
  }),
)
export type VoiceRequest = z.infer<typeof VoiceRequest>

export const AsrResponse = z.lazy(() => z.object({ text: z.string() }))

export const VoiceResponse = z.lazy(() =>
  z.object({
    asr_text: z.string(),
    reply_text: z.string(),
    /** mp3; null when speech synthesis failed. */
    audio_b64: z.string().nullable(),
    audio_format: z.literal('mp3'),
  }),
)
export type VoiceResponse = z.infer<typeof VoiceResponse>
