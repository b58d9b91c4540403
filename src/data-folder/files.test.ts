import { expect, test } from 'bun:test'
import { networkDisk } from './files.ts'

test('network shares are distinguished from local disks', () => {
  expect(networkDisk('/', 0x6969)).toBe('NFS')
  // The same number, as a system with signed ones gives it.
  for (const type of [0xff534d42, 0xff534d42 | 0]) expect(networkDisk('/', type)).toBe('CIFS')
  for (const type of [0xef53, 0x01021994, 0]) expect(networkDisk('/', type)).toBeNull()
  expect(networkDisk('/no/such/folder')).toBeNull()
})
