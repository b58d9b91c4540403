export interface AudioClip {
  /** The upload as it came: wav, mp3, flac, ogg, webm, m4a. */
  readonly bytes: Uint8Array
  /** Whose it is: tenants get this machine's recogniser and decoders in turn. */
  readonly tenantId: string
}

/** The port to speech recognition. Language is fixed to Chinese with punctuation guidance. */
export interface Asr {
  readonly name: string
  /** Recognised text, untrimmed; empty for silence. Throws `ChannelFailure`. */
  transcribe(clip: AudioClip, signal: AbortSignal): Promise<string>
}
