import { createContext } from 'react'
import type { FrameKind } from '../../frame/messages.ts'

export type ArtifactKind = FrameKind | 'svg'

const KINDS: ReadonlySet<string> = new Set<ArtifactKind>(['html', 'svg', 'mermaid', 'vega-lite'])

/** A larger block stays code. */
const SHOWN_BYTES_MAX = 512 * 1024
/** A larger drawing waits for a click. */
export const IN_PLACE_BYTES_MAX = 64 * 1024

/** What of the blocks of an answer is shown: pages only where a signed-in person reads. */
export const Shown = createContext<'all' | 'drawings' | 'none'>('all')

/** What a closed block is shown as; null: as code. */
export function artifactOf(
  language: string,
  text: string,
  shown: 'all' | 'drawings' | 'none',
): ArtifactKind | null {
  const name = language.trim().split(/\s/, 1)[0]?.toLowerCase() ?? ''
  if (shown === 'none' || !KINDS.has(name) || (name === 'html' && shown !== 'all')) return null
  if (text.trim() === '' || bytesOf(text) > SHOWN_BYTES_MAX) return null
  return name as ArtifactKind
}

export const bytesOf = (text: string): number => new TextEncoder().encode(text).length

/** Whether a block has its closing fence, of at least the length of the opening one. */
export function isClosed(raw: string): boolean {
  const fence = /^ {0,3}(`{3,}|~{3,})/.exec(raw)?.[1]
  if (fence === undefined) return false
  const last = raw.trimEnd().split('\n').slice(1).at(-1)?.trim() ?? ''
  return last.length >= fence.length && last === fence.charAt(0).repeat(last.length)
}
