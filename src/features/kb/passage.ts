import { firstChars } from '../../core/text.ts'
import { type Heading, headingsOf } from './headings.ts'

/** What is embedded and looked up of a chunk: a piece of a text rarely says what it is about. */
export function passageText(title: string, text: string): string {
  return `${title}\n${text}`
}

/** Longer than an overlap of two chunks ever is, in UTF-16 units. */
const OVERLAP_UNITS_MAX = 512
/** A line that goes on longer is a text and no heading. */
const HEADING_CHARS_MAX = 100

/**
 * The passages of a document, from its chunks in order: each with the headings that its text stands
 * under, and without an overlap that belongs to the section before. A chunk that begins a section
 * has its heading twice, as a field of a higher weight. Measured with scripts/bench/retrieval.ts.
 */
export function passagesOf(title: string, chunks: readonly string[]): string[] {
  const parts = chunks.map((text, i) => {
    const shared = sharedUnits(chunks[i - 1] ?? '', text)
    return { text, fresh: text.slice(shared) }
  })
  const headings = headingsOf(parts.map(({ fresh }) => fresh).join(''))
  const path: Heading[] = []
  let next = 0
  let end = 0
  return parts.map(({ text, fresh }) => {
    const start = end
    end += fresh.length
    const begun = headings[next]?.start === start
    if (begun) enter(path, headings[next++] as Heading)
    const context = path.map((heading) => heading.text)
    for (; (headings[next]?.start ?? end) < end; next++) enter(path, headings[next] as Heading)
    return [title, ...context, begun ? fresh : text].join('\n')
  })
}

/** Leaves the sections that the heading ends. */
function enter(path: Heading[], heading: Heading): void {
  while ((path.at(-1)?.level ?? 0) >= heading.level) path.pop()
  path.push({ ...heading, text: firstChars(heading.text, HEADING_CHARS_MAX) })
}

/** How much of the end of one chunk the next one begins with. */
function sharedUnits(before: string, text: string): number {
  for (let units = Math.min(OVERLAP_UNITS_MAX, text.length, before.length); units > 0; units--) {
    if (before.endsWith(text.slice(0, units))) return units
  }
  return 0
}
