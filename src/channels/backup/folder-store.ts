import { mkdir, open, readdir, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type BackupStore,
  BackupStoreError,
  isBackupName,
} from '../../upstream/ports/backup-store.ts'

const DRAFT = /^\.moonbase-\S+\.backup\.part$/

const SENTENCES: Readonly<Record<string, string>> = {
  ENOENT: 'cannot be made, because the folder above it does not exist',
  ENOTDIR: 'is no folder',
  EACCES: 'cannot be written by this user',
  EPERM: 'cannot be written by this user',
  EROFS: 'is on a disk that takes no writes',
  ENOSPC: 'is on a full disk',
  EDQUOT: 'is on a full disk',
  EIO: 'is on a disk that fails',
}

async function explainedOf<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    const words = SENTENCES[String((error as NodeJS.ErrnoException).code)]
    if (words === undefined) throw error
    throw new BackupStoreError(`${folder} ${words}`)
  }
}

/** Throws why no backup can be written there; leaves the folder as it was. */
export const tryFolder = (folder: string): Promise<void> =>
  explainedOf(folder, async () => {
    const isMade = await mkdir(folder, { mode: 0o700 }).then(() => true, unless('EEXIST'))
    try {
      const draft = join(folder, `.moonbase-${crypto.randomUUID()}.backup.part`)
      await writeFile(draft, '', { flag: 'wx', mode: 0o600 })
      await rm(draft)
    } finally {
      if (isMade) await rmdir(folder)
    }
  })

/** Backups as files of a folder, such as another disk or a share. */
export function createFolderStore(folder: string): BackupStore {
  const explained = <Result>(work: () => Promise<Result>) => explainedOf(folder, work)

  /**
   * Removes what a killed write left behind. The lock of the data folder allows only one writer.
   */
  async function removeDrafts(): Promise<void> {
    for (const name of await readdir(folder)) {
      if (DRAFT.test(name)) await rm(join(folder, name), { force: true })
    }
  }

  async function sync(path: string): Promise<void> {
    const handle = await open(path, 'r')
    await handle.sync().finally(() => handle.close())
  }

  return {
    place: folder,

    list: () =>
      explained(async () => {
        const names = (await namesIn(folder)).filter(isBackupName).sort().reverse()
        return Promise.all(
          names.map(async (name) => ({ name, bytes: (await stat(join(folder, name))).size })),
        )
      }),

    write: (name, read) =>
      explained(async () => {
        // Not recursive: where a disk is not mounted, its mount point must not be created.
        await mkdir(folder, { mode: 0o700 }).catch(unless('EEXIST'))
        await removeDrafts()
        const draft = join(folder, `.${name}.part`)
        try {
          const file = await open(draft, 'wx', 0o600)
          try {
            for await (const piece of read()) await file.writeFile(piece)
            await file.sync()
          } finally {
            await file.close()
          }
          await rename(draft, join(folder, name))
          await sync(folder)
        } finally {
          await rm(draft, { force: true })
        }
      }),

    async *read(name) {
      const file = await explained(() => open(join(folder, name), 'r'))
      yield* file.createReadStream()
    },

    remove: (name) => explained(() => rm(join(folder, name), { force: true })),
  }
}

const namesIn = (folder: string): Promise<string[]> =>
  readdir(folder).catch((error: unknown) => {
    unless('ENOENT')(error)
    return []
  })

/** Throws every error but those with the code. */
const unless = (code: string) => (error: unknown) => {
  if ((error as NodeJS.ErrnoException).code !== code) throw error
}
