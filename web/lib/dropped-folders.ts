/** More files than these of dropped folders are not looked at. */
export const DROPPED_FILES_MAX = 200

export interface Dropped {
  readonly files: readonly File[]
  /** False where some were too many, or could not be read. */
  readonly isWhole: boolean
}

/** The files of dropped entries, also those in folders; hidden ones are left out. */
export async function filesWithin(entries: readonly FileSystemEntry[]): Promise<Dropped> {
  const found: File[] = []
  let isWhole = true
  for (const entry of entries) isWhole = (await collected(entry, found)) && isWhole
  return { files: found, isWhole }
}

/** Whether all of it was found. */
async function collected(entry: FileSystemEntry, found: File[]): Promise<boolean> {
  try {
    return await collect(entry, found)
  } catch {
    return false
  }
}

async function collect(entry: FileSystemEntry, found: File[]): Promise<boolean> {
  if (entry.name.startsWith('.')) return true
  if (found.length >= DROPPED_FILES_MAX) return false
  let isWhole = true
  if (isFile(entry)) {
    const { promise, resolve, reject } = Promise.withResolvers<File>()
    entry.file(resolve, reject)
    found.push(await promise)
  } else if (isFolder(entry)) {
    const reader = entry.createReader()
    // A browser lists about a hundred at a time.
    for (let some = await list(reader); some.length > 0; some = await list(reader)) {
      for (const one of some) isWhole = (await collected(one, found)) && isWhole
    }
  }
  return isWhole
}

function list(reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> {
  const { promise, resolve, reject } = Promise.withResolvers<FileSystemEntry[]>()
  reader.readEntries(resolve, reject)
  return promise
}

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile
const isFolder = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory
