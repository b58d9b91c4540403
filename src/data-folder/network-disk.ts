import { statfsSync } from 'node:fs'

/** Kinds of file systems by their number (Linux, statfs(2)) that lie on another machine. */
const NETWORK: Readonly<Record<number, string>> = {
  26985: 'NFS',
  20859: 'SMB',
  4283649346: 'CIFS',
  4266872130: 'SMB',
  12805120: 'Ceph',
  1397113167: 'AFS',
}

/**
 * What kind of network file system holds the folder, or null. Such a share has no memory that
 * processes share and often no locks, both of which a database needs.
 */
export function networkDisk(folder: string, type = typeAt(folder)): string | null {
  return NETWORK[type >>> 0] ?? null
}

function typeAt(folder: string): number {
  try {
    return statfsSync(folder).type
  } catch {
    return 0
  }
}
