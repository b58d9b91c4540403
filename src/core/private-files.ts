import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  type Stats,
} from 'node:fs'

/**
 * Something in the data folder is not what the program puts there: a link, or a file of another
 * user. The message is a whole sentence for the operator.
 */
export class UnsafePathError extends Error {
  override readonly name = 'UnsafePathError'
}

const WRITE_OF_OTHERS = 0o022
const RIGHTS_OF_OTHERS = 0o077
const ROOT_UID = 0

/** Null when nothing is at `path`, or part of it is a file. Does not follow a link. */
export function lstatOrNull(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return null
    throw error
  }
}

/**
 * Removes other users' write permission from the folder, if it exists. Returns whether they had it.
 * Throws `UnsafePathError` for a link, and for a folder of another user, who may exchange every
 * file in it.
 */
export function closeFolder(path: string): boolean {
  const there = lstatOrNull(path)
  if (!there) return false
  refuseLink(path, there)
  const owner = foreignOwner(path)
  if (owner !== null) {
    throw new UnsafePathError(
      `${path} belongs to another user (${owner}), who could exchange every file in it; ` +
        'run Moonbase as that user or change the owner',
    )
  }
  const open = (there.mode & WRITE_OF_OTHERS) !== 0
  if (open && there.uid !== process.geteuid?.()) {
    throw new UnsafePathError(
      `other users can write to ${path}, which belongs to root; take that right from them: ` +
        `chmod go-w ${path}`,
    )
  }
  if (open) chmodSync(path, there.mode & 0o777 & ~WRITE_OF_OTHERS)
  return open
}

/** The owner of the folder when it is neither this user nor root; null when nothing is there. */
export function foreignOwner(path: string): number | null {
  const uid = lstatOrNull(path)?.uid
  return uid === undefined || uid === ROOT_UID || uid === process.geteuid?.() ? null : uid
}

/** As `closeFolder`, and makes the folder for this user alone when it is not there. */
export function makeFolder(path: string): void {
  closeFolder(path)
  mkdirSync(path, { recursive: true, mode: 0o700 })
}

/** Whether users other than its owner may write to the folder. */
export const isOpenToWrites = (path: string): boolean =>
  ((lstatOrNull(path)?.mode ?? 0) & WRITE_OF_OTHERS) !== 0

/**
 * Removes other users' permissions from the file, if it exists. Throws `UnsafePathError` for a
 * link. Call it before SQLite opens the file, because closing a descriptor gives up this process's
 * locks on it. For the same reason a file that is private already is not opened.
 */
export function closeFile(path: string): void {
  const there = lstatOrNull(path)
  if (!there) return
  refuseLink(path, there)
  if ((there.mode & RIGHTS_OF_OTHERS) === 0) return
  const file = openPrivate(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    fchmodSync(file, 0o600)
  } finally {
    closeSync(file)
  }
}

/** Opens a plain file of the data folder. Throws `UnsafePathError` for a link or a device. */
export function openPrivate(path: string, flags: number): number {
  let file: number
  try {
    file = openSync(path, flags | constants.O_NOFOLLOW)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ELOOP') throw linked(path)
    throw error
  }
  if (fstatSync(file).isFile()) return file
  closeSync(file)
  throw new UnsafePathError(`${path} is no plain file; move it away`)
}

function refuseLink(path: string, there: Stats): void {
  if (there.isSymbolicLink()) throw linked(path)
}

const linked = (path: string) =>
  new UnsafePathError(`${path} is a link, and no link in the data folder is followed; remove it`)
