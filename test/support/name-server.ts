import { createSocket } from 'node:dgram'
import type { AddressInfo } from 'node:net'

/** The answer for a name: its IPv4 address, null for an unknown name, silence for none. */
export type Zone = (name: string) => string | null | 'silence'

const TYPE_A = 1
const NXDOMAIN = 3

/** A DNS server (RFC 1035) on loopback. `await using names = await startNameServer(zone)`. */
export async function startNameServer(zone: Zone) {
  const socket = createSocket('udp4')
  const asked: string[] = []
  const waiting = new Set<() => void>()
  socket.on('message', (query, { port, address }) => {
    const { name, type, end } = questionOf(query)
    asked.push(name)
    for (const look of waiting) look()
    const answer = zone(name)
    if (answer === 'silence') return
    socket.send(responseTo(query.subarray(0, end), answer, type), port, address)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  const { port } = socket.address() as AddressInfo
  return {
    address: `127.0.0.1:${port}`,
    /** The queried names, one for each query. */
    asked,
    /** Resolves when `count` different names have been queried. */
    hasHeardOf(count: number): Promise<void> {
      return new Promise((resolve) => {
        const look = () => {
          if (new Set(asked).size < count) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        look()
      })
    },
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => socket.close(() => resolve())),
  }
}

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.'), type: query.readUInt16BE(at + 1), end: at + 5 }
}

function responseTo(query: Buffer, address: string | null, type: number): Buffer {
  const head = Buffer.from(query)
  const hasAnswer = address !== null && type === TYPE_A
  head.writeUInt16BE(0x8180 | (address === null ? NXDOMAIN : 0), 2)
  head.writeUInt16BE(hasAnswer ? 1 : 0, 6)
  head.writeUInt32BE(0, 8)
  if (!hasAnswer) return head
  // Pointer to the question's name, type A, class IN, TTL of 60 s, four bytes of data.
  const record = Buffer.from([0xc0, 12, 0, TYPE_A, 0, 1, 0, 0, 0, 60, 0, 4])
  return Buffer.concat([head, record, Buffer.from(address.split('.').map(Number))])
}
