import { type FileName, picturePath } from '../../api/talks.ts'
import type { Wish } from './wish.ts'

/** A turn that another one replaces once that is stored. */
export interface Replaced {
  readonly id: string
  readonly seq: number | null
}

/** A file beside a question; its id is null where that is not known any more. */
export interface SentFile {
  readonly id: string | null
  readonly name: string
}

export interface Question {
  readonly text: string
  readonly images: readonly string[]
  readonly pictures?: number
  readonly files?: readonly SentFile[]
  readonly replaces?: Replaced | null
  readonly wish?: Wish | undefined
}

/** The memory's placeholders for pictures, each on a line at the end. */
const PICTURES = /(?:\n\[\u56fe\u7247\])+$/u

/** The memory's names of files, each on a line at the beginning. */
const FILES = /^(?:\[\u6587\u4ef6 [^\n]*\]\n)+/u
const FILE = /\[\u6587\u4ef6 ([^\n]*)\]\n/gu

/** The names of files, with those of the ids that are known. */
export const sentFiles = (names: readonly string[], ids: readonly string[] = []): SentFile[] =>
  names.map((name, at) => ({ id: ids[at] ?? null, name }))

/** What was asked, by the text that the server keeps of it, and the pictures and files of it. */
export function askedOf(
  kept: string,
  images: readonly { readonly file_id: string }[] = [],
  named: readonly FileName[] = [],
): Question {
  const [noted = ''] = kept.match(PICTURES) ?? []
  const [filed = ''] = kept.match(FILES) ?? []
  return {
    text: kept.slice(filed.length, kept.length - noted.length),
    images: images.map(({ file_id }) => picturePath(file_id)),
    pictures: Math.max(0, noted.split('\n').length - 1 - images.length),
    files:
      named.length > 0
        ? named.map(({ file_id, name }) => ({ id: file_id, name }))
        : sentFiles([...filed.matchAll(FILE)].map(([, name = '']) => name)),
  }
}
