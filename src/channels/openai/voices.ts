import { DEFAULT_VOICE } from '../ports/tts.ts'

export interface VoiceOptions {
  readonly model: string
  /** The operator's voice; empty when none is set. */
  readonly voice: string
}

/** A voice that most servers of this interface know, or map to one of theirs. */
const COMMON_VOICE = 'alloy'

/** What the default voice id means on this server: a Mandarin voice where the model tells. */
export function standardVoice({ model, voice }: VoiceOptions): string {
  if (voice !== '') return voice
  if (/kokoro/i.test(model)) return 'zf_xiaoxiao'
  // SiliconFlow names its voices behind the model.
  if (/cosyvoice2|moss-ttsd|\/.*cosyvoice/i.test(model)) return `${model}:anna`
  if (/cosyvoice/i.test(model)) return 'longxiaochun'
  return COMMON_VOICE
}

/** Ids other than the default are the server's own, so they go through as they are. */
export function voiceFor(id: string, options: VoiceOptions): string {
  return id === DEFAULT_VOICE ? standardVoice(options) : id
}
