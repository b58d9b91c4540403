import type { Dropped } from './dropped-folders.ts'
import { loadChunk } from './lazy-chunks.ts'

/** The files that were dropped, also those in folders; hidden ones of folders are left out. */
export async function droppedFiles({ items, files }: DataTransfer): Promise<Dropped> {
  // Asked for before anything is awaited: both lists are empty afterwards.
  const entries = [...items].flatMap((item) => item.webkitGetAsEntry() ?? [])
  const dropped = [...files]
  if (!entries.some(({ isDirectory }) => isDirectory)) return { files: dropped, isWhole: true }
  // Loaded when a folder is dropped: the first page of the console needs it not.
  const { filesWithin } = await loadChunk(() => import('./dropped-folders.ts'))
  return filesWithin(entries)
}
