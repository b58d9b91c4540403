import { describe, expect, test } from 'bun:test'
import { addressGroup, clientAddress } from './client-address.ts'

const request = (forwarded?: string) =>
  new Request(
    'http://x/',
    forwarded === undefined ? {} : { headers: { 'x-forwarded-for': forwarded } },
  )
const socket = (address: string) => ({ requestIP: () => ({ address }) })

const cases: [number, string | undefined, string, string][] = [
  [0, undefined, '192.0.2.1', '192.0.2.1'],
  [0, '198.51.100.1', '192.0.2.1', '192.0.2.1'],
  [0, undefined, '::ffff:192.0.2.1', '192.0.2.1'],
  [1, undefined, '192.0.2.1', '192.0.2.1'],
  [1, '198.51.100.1', '192.0.2.1', '198.51.100.1'],
  [1, '203.0.113.66, 198.51.100.1', '192.0.2.1', '198.51.100.1'],
  [2, '203.0.113.66, 198.51.100.1, 192.0.2.9', '192.0.2.1', '198.51.100.1'],
  [2, '198.51.100.1', '192.0.2.1', '198.51.100.1'],
  [1, '198.51.100.1:4711', '192.0.2.1', '198.51.100.1'],
  [1, '[2001:db8::1]:4711', '192.0.2.1', '2001:db8::1'],
  [1, '2001:DB8:0::1', '192.0.2.1', '2001:db8::1'],
  [1, 'unknown', '192.0.2.1', '192.0.2.1'],
  [1, '198.51.100.1, <script>', '192.0.2.1', '192.0.2.1'],
  [1, '0x7f.1', '192.0.2.1', '192.0.2.1'],
]

describe('the client address', () => {
  for (const [proxies, forwarded, peer, address] of cases) {
    test(`client address: ${proxies} proxies, ${forwarded} from ${peer} give ${address}`, () => {
      expect(clientAddress(proxies)(request(forwarded), socket(peer))).toBe(address)
    })
  }

  test('the client address is unknown without a socket', () => {
    expect(clientAddress(0)(request(), null)).toBe('unknown')
    expect(clientAddress(0)(request(), { requestIP: () => null })).toBe('unknown')
  })
})

test('an IPv6 network counts as one client, an IPv4 address each', () => {
  expect(addressGroup('2001:db8:1:2::1')).toBe(addressGroup('2001:db8:1:2:ffff::9'))
  expect(addressGroup('2001:db8:1:2::1')).not.toBe(addressGroup('2001:db8:1:3::1'))
  expect(addressGroup('192.0.2.1')).not.toBe(addressGroup('192.0.2.2'))
})
