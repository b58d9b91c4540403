import { expect, test } from 'bun:test'
import { isNearHost } from './near-host.ts'

test('private addresses, names of one label and names of home networks are near', () => {
  const near = ['10.0.0.7', '172.16.0.1', '172.31.9.9', '192.168.1.20', '169.254.1.1', 'box']
  const names = ['box.local', 'a.b.lan', 'nas.home.arpa', '[fd00::7]', '[fe80::1]', '[fc00::]']
  for (const host of [...near, ...names]) expect([host, isNearHost(host)]).toEqual([host, true])
  const far = ['localhost', '127.0.0.1', '[::1]', '8.8.8.8', '172.32.0.1', '172.15.0.1', 'box.com']
  const names2 = [
    'local.example.com',
    'lan.example',
    'home.arpa.com',
    '[2001:db8::1]',
    '[::ffff:a]',
  ]
  for (const host of [...far, ...names2]) expect([host, isNearHost(host)]).toEqual([host, false])
})
