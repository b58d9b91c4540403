import { appError } from '../../core/errors.ts'
import { WYOMING_AUDIO_SECONDS_MAX } from '../../core/limits/machine.ts'

type Data = Readonly<Record<string, unknown>>

const SAMPLE_BYTES = 2
const [RATE_MIN, RATE_MAX] = [8_000, 48_000]

/** A recording that a client sends: mono samples of 16 bits. */
export function createRecording(request: Data) {
  const language = languageOf(request)
  const parts: Uint8Array[] = []
  let rate = 0
  let left = 0

  return {
    /** The language as the client named it; null when it named none. */
    language: typeof request.language === 'string' ? request.language : null,
    hints: language === null ? undefined : { language },

    /** Sets the format; throws `invalid_request` for an unsupported one. */
    start(format: Data): void {
      const { rate: given, width = SAMPLE_BYTES, channels = 1 } = format
      const isRate = Number.isInteger(given) && Number(given) >= RATE_MIN
      if (!isRate || Number(given) > RATE_MAX) throw appError('field_invalid', { field: 'rate' })
      if (width !== SAMPLE_BYTES) throw appError('field_invalid', { field: 'width' })
      if (channels !== 1) throw appError('field_invalid', { field: 'channels' })
      rate = Number(given)
      left = WYOMING_AUDIO_SECONDS_MAX * rate * SAMPLE_BYTES
    },

    /** Adds samples; those after a minute are dropped. */
    add(format: Data, samples: Uint8Array): void {
      if (rate === 0) this.start(format)
      const taken = samples.subarray(0, left)
      if (taken.length === 0) return
      parts.push(taken)
      left -= taken.length
    },

    /** The whole recording and its rate; drops half a sample at its end. */
    take(): { readonly samples: Uint8Array; readonly rate: number } {
      const all = Buffer.concat(parts.splice(0))
      return { samples: all.subarray(0, all.length - (all.length % SAMPLE_BYTES)), rate }
    },
  }
}

export type Recording = ReturnType<typeof createRecording>

/** Recognisers need `zh` for `zh-CN`. */
function languageOf({ language }: Data): string | null {
  const [, start = ''] = /^([A-Za-z]{2,3})(?:[-_]|$)/.exec(String(language ?? '')) ?? []
  return start === '' ? null : start.toLowerCase()
}
