import { RECOGNISER_RATE, SILENCE_RMS } from '../../upstream/ports/speech.ts'

/** A part of a recording, in samples. */
export interface Span {
  readonly start: number
  readonly end: number
}

const seconds = (count: number) => Math.round(count * RECOGNISER_RATE)

/** Whisper takes at most 30 s, and the memory of the other models grows with the square. */
export const PIECE_SAMPLES_MAX = seconds(28)
const WINDOW = seconds(0.02)
/** `SILENCE_RMS` on the scale of 16-bit samples. */
const SILENCE_RMS_S16 = SILENCE_RMS * 32_768
/** A shorter pause does not end a span. */
const PAUSE = seconds(0.5)
/** Spans with a shorter gap are recognised together, which gives the model more context. */
const GAP_MAX = seconds(1.5)
/** Added around a span for the quiet beginnings and ends of words. */
const MARGIN = seconds(0.2)

/** Finds everything that is not silent; used without a voice activity detector. */
export function loudSpans(samples: Int16Array): Span[] {
  const spans: { start: number; end: number }[] = []
  for (let start = 0; start < samples.length; start += WINDOW) {
    const end = Math.min(start + WINDOW, samples.length)
    if (loudness(samples, start, end) < SILENCE_RMS_S16) continue
    const last = spans.at(-1)
    if (last && start - last.end < PAUSE) last.end = end
    else spans.push({ start, end })
  }
  return spans
}

/** Joins close spans and cuts long ones where they are quietest: pieces for the model. */
export function toPieces(spans: readonly Span[], samples: Int16Array): Span[] {
  const pieces: { start: number; end: number }[] = []
  for (const span of spans) {
    const last = pieces.at(-1)
    const start = Math.max(span.start - MARGIN, last?.end ?? 0)
    const end = Math.min(span.end + MARGIN, samples.length)
    if (last && start - last.end <= GAP_MAX && end - last.start <= PIECE_SAMPLES_MAX) {
      last.end = end
    } else if (end > start) {
      pieces.push({ start, end })
    }
  }
  return pieces.flatMap((piece) => cut(piece, samples))
}

function cut({ start, end }: Span, samples: Int16Array): Span[] {
  const parts: Span[] = []
  let from = start
  while (end - from > PIECE_SAMPLES_MAX) {
    const to = quietest(
      samples,
      from + Math.round(PIECE_SAMPLES_MAX * 0.7),
      from + PIECE_SAMPLES_MAX,
    )
    parts.push({ start: from, end: to })
    from = to
  }
  return [...parts, { start: from, end }]
}

/** The middle of the quietest 100 ms. */
function quietest(samples: Int16Array, from: number, to: number): number {
  const width = WINDOW * 5
  let best = { at: to, loud: Number.POSITIVE_INFINITY }
  for (let at = from; at + width <= to; at += WINDOW) {
    const loud = loudness(samples, at, at + width)
    if (loud < best.loud) best = { at: at + width / 2, loud }
  }
  return best.at
}

function loudness(samples: Int16Array, start: number, end: number): number {
  let sum = 0
  for (let i = start; i < end; i++) sum += (samples[i] as number) ** 2
  return Math.sqrt(sum / (end - start))
}

const WIDE =
  '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\u3000-\\u303f\\uff00-\\uffef]'
/** Chinese and Japanese characters and punctuation are written without spaces. */
const SEAM = new RegExp(`${WIDE}\n|\n${WIDE}`, 'gu')

/** Joins texts, with a space only between scripts that use spaces. */
export function joinTexts(texts: readonly string[]): string {
  const lines = texts.map((text) => text.replaceAll('\n', ' ').trim()).filter(Boolean)
  return lines
    .join('\n')
    .replace(SEAM, (seam) => seam.replace('\n', ''))
    .replaceAll('\n', ' ')
}
