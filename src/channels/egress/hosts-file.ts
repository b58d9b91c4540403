import { readFileSync, statSync } from 'node:fs'
import { isIP } from 'node:net'
import type { ResolvedAddress } from './url-guard.ts'

/** The addresses of a name in the hosts file; none when it is not there. */
export type HostsFile = (name: string) => readonly ResolvedAddress[]

/**
 * Reads the system's hosts file (hosts(5)), again whenever it has changed. Docker and operators
 * name the machines of a local network there, such as `host.docker.internal`.
 */
export function createHostsFile(path: string): HostsFile {
  let version = ''
  let entries = new Map<string, ResolvedAddress[]>()

  return (name) => {
    const stat = statSync(path, { throwIfNoEntry: false })
    const current = stat ? `${stat.mtimeMs} ${stat.size}` : ''
    if (current !== version) {
      version = current
      entries = parse(stat ? readFileSync(path, 'utf8') : '')
    }
    return entries.get(name) ?? []
  }
}

function parse(text: string): Map<string, ResolvedAddress[]> {
  const entries = new Map<string, ResolvedAddress[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    const family = isIP(address)
    if (family === 0) continue
    for (const name of names.map((text) => text.toLowerCase())) {
      entries.set(name, [...(entries.get(name) ?? []), { address, family }])
    }
  }
  return entries
}
