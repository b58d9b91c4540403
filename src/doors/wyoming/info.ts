/** What the server can do, for the event `info`. */
export interface Abilities {
  readonly version: string
  /** The kind of recognition, and of synthesis; null where there is none. */
  readonly hears: string | null
  readonly speaks: string | null
}

/** The name of the voice that the operator has chosen. */
export const OWN_VOICE = 'moonbase'

/** Languages of Whisper, which most speech services and models support. */
const LANGUAGES = [
  ...['zh', 'en', 'yue', 'ja', 'ko', 'de', 'es', 'fr', 'it', 'pt', 'ru', 'ar', 'hi', 'id', 'vi'],
  ...['th', 'tr', 'pl', 'nl', 'sv', 'da', 'fi', 'nb', 'cs', 'sk', 'hu', 'ro', 'bg', 'hr', 'sr'],
  ...['sl', 'uk', 'el', 'he', 'fa', 'ur', 'bn', 'ta', 'te', 'ms', 'ca', 'lt', 'lv', 'et', 'is'],
]
/** The product's own engines support fewer. */
const OWN_LANGUAGES: Readonly<Record<string, readonly string[]>> = {
  local: ['zh', 'en', 'yue', 'ja', 'ko'],
  espeak: ['zh', 'en'],
}

const languagesOf = (kind: string) => OWN_LANGUAGES[kind] ?? LANGUAGES

export function infoOf({ version, hears, speaks }: Abilities): Record<string, unknown> {
  // The reference library refuses a list with an entry that lacks one of these.
  const part = {
    name: OWN_VOICE,
    description: 'Moonbase',
    attribution: { name: 'Moonbase', url: '' },
    installed: true,
    version,
  }
  const model = (languages: readonly string[]) => ({ ...part, languages })
  return {
    asr: hears === null ? [] : [{ ...part, models: [model(languagesOf(hears))] }],
    tts:
      speaks === null
        ? []
        : [
            {
              ...part,
              voices: [{ ...model(languagesOf(speaks)), speakers: null }],
              supports_synthesize_streaming: true,
            },
          ],
    handle: [{ ...part, models: [model(LANGUAGES)], supports_home_control: false }],
    intent: [],
    wake: [],
    mic: [],
    snd: [],
  }
}
