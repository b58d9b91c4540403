import type { Asr, AudioClip } from '../../channels/ports/asr.ts'
import type { AudioCodecs } from '../../channels/ports/audio.ts'

export interface HearingOptions {
  readonly asr: Asr
  readonly codecs: Pick<AudioCodecs, 'isSilent'>
  /** Whether silence is answered without asking the recogniser. */
  readonly skipSilence: boolean
}

/** Texts that Whisper invents for silence: subtitles of its training data, and our own prompt. */
const INVENTED = new RegExp(
  [
    '字幕|点赞|訂閱|订阅|打赏|明镜|以下是普通话|amara\\.org|thank(s| you) for watching',
    '(谢谢|謝謝|感谢|感謝)(观看|觀看|收看|收听|大家)',
    '^[\\p{P}\\p{S}\\s]*(you|bye|嗯|啊)?[\\p{P}\\p{S}\\s]*$',
  ].join('|'),
  'iu',
)

/** The recognised text, trimmed; empty for silence. */
export async function hear(
  { asr, codecs, skipSilence }: HearingOptions,
  clip: AudioClip,
  signal: AbortSignal,
): Promise<string> {
  const silent = (await codecs.isSilent(clip.bytes)) === true
  if (silent && skipSilence) return ''
  const text = (await asr.transcribe(clip, signal)).trim()
  return silent && INVENTED.test(text) ? '' : text
}
