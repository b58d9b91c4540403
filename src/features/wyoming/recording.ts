import { appError } from '../../core/errors.ts'
import { WYOMING_AUDIO_SECONDS_MAX } from '../../core/limits/machine.ts'

type Data = Readonly<Record<string, unknown>>

const SAMPLE_BYTES = 2
const [RATE_MIN, RATE_MAX] = [8_000, 48_000]

/** What a client sends to be recognised: mono samples of 16 bits. */
export function createRecording(asked: Data) {
  const language = languageOf(asked)
  const parts: Uint8Array[] = []
  let rate = 0
  let left = 0

  return {
    /** In the words of the client; null when it named none. */
    language: typeof asked.language === 'string' ? asked.language : null,
    hints: language === null ? undefined : { language },

    /** Takes the format of what follows; throws `invalid_request` for one that is not heard. */
    start(format: Data): void {
      const { rate: given, width = SAMPLE_BYTES, channels = 1 } = format
      const isRate = Number.isInteger(given) && Number(given) >= RATE_MIN
      if (!isRate || Number(given) > RATE_MAX) throw appError('field_invalid', { field: 'rate' })
      if (width !== SAMPLE_BYTES) throw appError('field_invalid', { field: 'width' })
      if (channels !== 1) throw appError('field_invalid', { field: 'channels' })
      rate = Number(given)
      left = WYOMING_AUDIO_SECONDS_MAX * rate * SAMPLE_BYTES
    },

    /** What comes after a minute is not heard. */
    add(format: Data, samples: Uint8Array): void {
      if (rate === 0) this.start(format)
      const taken = samples.subarray(0, left)
      if (taken.length === 0) return
      parts.push(taken)
      left -= taken.length
    },

    /** All of it, with its rate; a half sample at the end is none. */
    take(): { readonly samples: Uint8Array; readonly rate: number } {
      const all = Buffer.concat(parts.splice(0))
      return { samples: all.subarray(0, all.length - (all.length % SAMPLE_BYTES)), rate }
    },
  }
}

export type Recording = ReturnType<typeof createRecording>

/** `zh-CN` is `zh` to recognisers. */
function languageOf({ language }: Data): string | null {
  const [, start = ''] = /^([A-Za-z]{2,3})(?:[-_]|$)/.exec(String(language ?? '')) ?? []
  return start === '' ? null : start.toLowerCase()
}
