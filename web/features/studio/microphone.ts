import type { Key } from '../../i18n/index.tsx'

/** Browsers allow recording only on https and localhost pages. */
export const mayRecord = (): boolean => navigator.mediaDevices !== undefined

/** Why the microphone cannot be used. */
export type MicrophoneFault = 'refused' | 'missing' | 'busy' | 'failed'

/** By the names of https://www.w3.org/TR/mediacapture-streams/#dom-mediadevices-getusermedia */
const FAULTS: Readonly<Record<string, MicrophoneFault>> = {
  NotAllowedError: 'refused',
  SecurityError: 'refused',
  NotFoundError: 'missing',
  OverconstrainedError: 'missing',
  NotReadableError: 'busy',
}

export const microphoneFault = (error: unknown): MicrophoneFault =>
  (error instanceof DOMException && FAULTS[error.name]) || 'failed'

/** The sentence for each fault, which says what to do. */
export const MICROPHONE_WORDS: Readonly<Record<MicrophoneFault, Key>> = {
  refused: 'studio.voice.refused',
  missing: 'studio.voice.missing',
  busy: 'studio.voice.busy',
  failed: 'studio.voice.failed',
}
