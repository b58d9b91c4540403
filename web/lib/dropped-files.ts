/** More files than these of dropped folders are not looked at. */
const FILES_MAX = 200

/** The files that were dropped, also those in folders; hidden ones are left out. */
export async function droppedFiles({ items, files }: DataTransfer): Promise<File[]> {
  // Entries must be asked for before anything is awaited; the list is empty afterwards.
  const entries = [...items].flatMap((item) => item.webkitGetAsEntry() ?? [])
  if (!entries.some(({ isDirectory }) => isDirectory)) return [...files]
  const found: File[] = []
  for (const entry of entries) await collect(entry, found)
  return found
}

async function collect(entry: FileSystemEntry, found: File[]): Promise<void> {
  if (found.length >= FILES_MAX || entry.name.startsWith('.')) return
  if (isFile(entry)) {
    const { promise, resolve, reject } = Promise.withResolvers<File>()
    entry.file(resolve, reject)
    found.push(await promise)
  } else if (isFolder(entry)) {
    const reader = entry.createReader()
    // A browser lists about a hundred at a time.
    for (let some = await list(reader); some.length > 0; some = await list(reader)) {
      for (const one of some) await collect(one, found)
    }
  }
}

function list(reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> {
  const { promise, resolve, reject } = Promise.withResolvers<FileSystemEntry[]>()
  reader.readEntries(resolve, reject)
  return promise
}

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile
const isFolder = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory
