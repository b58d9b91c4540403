import { readFileSync, statSync } from 'node:fs'
import { sha256Hex } from '../core/crypto.ts'
import { lockPath } from './data-folder.ts'

/** A new one with each start of the machine; a virtual machine that is copied starts anew. */
const BOOT = '/proc/sys/kernel/random/boot_id'
const CHARS = 16

/**
 * A name of the file that locks the data folder, on this machine and since its start. Who holds the
 * lock knows that earlier servers of this name are dead. Null where none can be told.
 */
export function homeOf(dataDir: string): string | null {
  try {
    const { dev, ino } = statSync(lockPath(dataDir), { bigint: true })
    const boot = readFileSync(BOOT, 'utf8').trim()
    return sha256Hex(`${boot} ${dev} ${ino}`).slice(0, CHARS)
  } catch {
    return null
  }
}
