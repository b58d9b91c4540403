import { charCount, firstChars } from '../core/text.ts'

/** Shorter texts are spoken in one call. */
const WHOLE_CHARS_MAX = 200
/** The first piece is short so that its sound begins early. */
const FIRST_CHARS_MAX = 80
const PIECE_CHARS_MAX = 600

/** Ends at Chinese or Latin sentence punctuation; the point of `3.14` is none. */
const SENTENCE =
  /(?:[^。！？!?；;…\n.]|\.(?!\s|$))*(?:[。！？!?；;…\n]+|\.(?=\s|$))[”’"'）)」』】]*\s*|[\s\S]+?$/gu
const CLAUSE = /[^，,、：:—]*[，,、：:—]+\s*|[\s\S]+?$/gu

/**
 * Cuts a text into pieces at sentence ends, so that one can be spoken while the next is prepared.
 * Longer sentences are cut at clauses, and at `charsMax` code points when they have none. Nothing
 * is lost: the pieces joined are the text. Each piece is cut when it is asked for.
 */
export function* splitSpeech(text: string, charsMax: number): Generator<string> {
  if (charCount(text) <= Math.min(WHOLE_CHARS_MAX, charsMax)) {
    yield text
    return
  }
  const most = Math.min(PIECE_CHARS_MAX, charsMax)
  let limit = Math.min(FIRST_CHARS_MAX, most)
  let piece = ''
  let chars = 0
  for (const part of parts(text, most)) {
    const more = charCount(part)
    if (piece !== '' && chars + more > limit) {
      yield piece
      piece = ''
      chars = 0
      limit = most
    }
    piece += part
    chars += more
  }
  yield piece
}

/** Sentences, or the clauses of long ones; clauses longer than a call are cut at code points. */
function* parts(text: string, most: number): Generator<string> {
  for (const [sentence] of text.matchAll(SENTENCE)) {
    if (charCount(sentence) <= FIRST_CHARS_MAX) {
      yield sentence
      continue
    }
    for (const [clause] of sentence.matchAll(CLAUSE)) yield* cut(clause, most)
  }
}

function* cut(text: string, most: number): Generator<string> {
  for (let rest = text; rest !== ''; ) {
    const part = firstChars(rest, most)
    // Cuts at a space when one is near.
    const space = part.length < rest.length ? part.lastIndexOf(' ') + 1 : 0
    const end = space > part.length / 2 ? space : part.length
    yield rest.slice(0, end)
    rest = rest.slice(end)
  }
}
