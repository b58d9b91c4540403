/** A place outside the data folder that keeps backups: a folder, or a bucket of S3. */
export interface BackupStore {
  /** Where it is, for people; holds no credential. */
  readonly place: string
  /** The complete backups, newest first. Throws `BackupStoreError`. */
  list(): Promise<readonly StoredBackup[]>
  /**
   * Stores all bytes under `name`, or nothing. Calls `open` again for each retry. Throws
   * `BackupStoreError`, and the errors of `open`.
   */
  write(name: string, open: () => AsyncIterable<Uint8Array>): Promise<void>
  /** Throws `BackupStoreError` on the first read when there is none of that name. */
  read(name: string): AsyncIterable<Uint8Array>
  remove(name: string): Promise<void>
}

export interface StoredBackup {
  readonly name: string
  readonly bytes: number
}

/** A backup cannot be stored or read; the message is one sentence for the operator. */
export class BackupStoreError extends Error {
  override readonly name = 'BackupStoreError'
}

const NAME = /^moonbase-\d{8}T\d{9}Z-[0-9a-f]{8}\.backup$/

export const isBackupName = (name: string): boolean => NAME.test(name)

/**
 * `moonbase-20261122T131500123Z-0a1b2c3d.backup`: names sort by time. `box` (8 hex digits) tells
 * servers apart that share a place.
 */
export const backupName = (iso: string, box: string): string =>
  `moonbase-${iso.replace(/[-:.]/g, '')}-${box}.backup`

/** The box in the name of a backup. */
export const boxIn = (name: string): string =>
  name.slice(-'01234567.backup'.length, -'.backup'.length)

/** When the backup of that name was made, in epoch milliseconds. */
export function timeIn(name: string): number {
  const digits = /-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z-/.exec(name) ?? []
  const [, year, month, day, hour, minute, second, ms] = digits.map(Number)
  return Date.UTC(year ?? 0, (month ?? 0) - 1, day, hour, minute, second, ms)
}

/** Whether `name` is a backup of that box. */
export const isOfBox = (name: string, box: string): boolean =>
  isBackupName(name) && name.endsWith(`-${box}.backup`)
