import { Parser } from 'htmlparser2'

export interface PageText {
  readonly title: string
  readonly text: string
}

const SKIPPED = new Set(
  'script style noscript template svg math iframe object select nav dialog head'.split(' '),
)
const BLOCKS = new Set(
  (
    'address article aside blockquote br dd details div dl dt fieldset figcaption figure footer ' +
    'form h1 h2 h3 h4 h5 h6 header hr li main ol p pre section summary table tr ul'
  ).split(' '),
)

/** The depth limit of browsers. */
const DEPTH_MAX = 512

/**
 * The readable text of an HTML page: each block on its own line, list items marked, scripts, styles
 * and navigation left out. The parser streams, so nesting costs no stack. Reading ends at
 * `DEPTH_MAX`, because the parser searches all open elements for each end tag.
 */
export function pageText(html: string): PageText {
  let title = ''
  let text = ''
  let skipped = 0
  let preformatted = 0
  let inTitle = false
  let depth = 0
  const parser = new Parser({
    onopentag(name) {
      if (++depth > DEPTH_MAX) parser.pause()
      if (name === 'title' && title === '') inTitle = true
      if (SKIPPED.has(name)) skipped++
      else if (name === 'li') text += '\n- '
      else if (name === 'td' || name === 'th') text += ' | '
      else if (BLOCKS.has(name)) text += '\n'
      if (name === 'pre') preformatted++
    },
    ontext(data) {
      if (inTitle) title += data
      else if (skipped === 0) text += preformatted > 0 ? data : data.replace(/\s+/g, ' ')
    },
    onclosetag(name) {
      depth--
      if (name === 'title') inTitle = false
      if (name === 'pre') preformatted = Math.max(0, preformatted - 1)
      if (SKIPPED.has(name)) skipped = Math.max(0, skipped - 1)
      else if (BLOCKS.has(name)) text += '\n'
    },
  })
  parser.end(html)
  return { title: title.replace(/\s+/g, ' ').trim(), text: tidyLines(text) }
}

function tidyLines(text: string): string {
  const lines = text.split('\n').map((line) => line.replace(/ +/g, ' ').trim())
  return lines.filter((line) => line !== '' && line !== '-' && line !== '|').join('\n')
}
