import type { TimedText, Transcript } from '../../upstream/ports/speech.ts'

/** A transcript whose gaps are filled: always with segments and a duration. */
export interface TimedTranscript extends Transcript {
  readonly segments: readonly TimedText[]
  /** In seconds. */
  readonly duration: number
}

/** An engine without times gives one segment, from the beginning to the end. */
export function timed(heard: Transcript, duration: number): TimedTranscript {
  const whole = heard.text === '' ? [] : [{ start: 0, end: duration, text: heard.text }]
  const { segments = whole } = heard
  const spoken = segments.filter(({ text }) => text.trim() !== '')
  return { ...heard, duration, segments: spoken.length > 0 ? spoken : whole }
}

/** Values of OpenAI's own model that no other engine reports. */
const UNTOLD = {
  tokens: [],
  temperature: 0,
  avg_logprob: 0,
  compression_ratio: 0,
  no_speech_prob: 0,
} as const

/** `verbose_json`; has `words` when they were asked for. */
export const verboseOf = (heard: TimedTranscript, language: string, withWords: boolean) => ({
  task: 'transcribe',
  language,
  duration: heard.duration,
  text: heard.text,
  segments: heard.segments.map(({ start, end, text }, id) => ({
    id,
    seek: 0,
    start,
    end,
    text,
    ...UNTOLD,
  })),
  ...(withWords && {
    words: (heard.words ?? []).map(({ start, end, text }) => ({ word: text, start, end })),
  }),
})

/** SubRip: a numbered cue for each segment. */
export const srtOf = ({ segments }: TimedTranscript): string =>
  segments
    .map(({ start, end, text }, i) => cue(`${i + 1}\n${time(start, ',')}`, time(end, ','), text))
    .join('')

/** WebVTT: a cue for each segment. Escapes `<`, `&` and `-->`, which have a meaning there. */
export const vttOf = ({ segments }: TimedTranscript): string =>
  `WEBVTT\n\n${segments
    .map(({ start, end, text }) => cue(time(start, '.'), time(end, '.'), escaped(text)))
    .join('')}`

/** An empty line would end the cue. */
const cue = (head: string, end: string, text: string): string =>
  `${head} --> ${end}\n${text.trim().replace(/\s*\n\s*/g, '\n')}\n\n`

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** `00:00:01,500` */
function time(seconds: number, point: ',' | '.'): string {
  const ms = Math.round(seconds * 1_000)
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0')
  const clock = [ms / 3_600_000, (ms / 60_000) % 60, (ms / 1_000) % 60].map(two).join(':')
  return `${clock}${point}${String(ms % 1_000).padStart(3, '0')}`
}
