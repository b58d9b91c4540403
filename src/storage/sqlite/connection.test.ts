import { expect, test } from 'bun:test'
import { statSync } from 'node:fs'
import { tempFolder } from '../../../test/support/temp.ts'
import { openConnection } from './connection.ts'

const MIB = 1024 * 1024

test('the database log shrinks again after a long read', () => {
  using folder = tempFolder()
  const file = { path: folder.file('test.db'), extensions: [] }
  const logBytes = () => statSync(`${file.path}-wal`).size
  const writer = openConnection(file, 'write')
  writer.run('CREATE TABLE item (bytes BLOB)')
  const write = () => writer.run('INSERT INTO item VALUES (randomblob(1000000))')

  // As a backup does.
  const holder = openConnection(file, 'read')
  holder.run('BEGIN')
  holder.query('SELECT count(*) FROM item').get()
  for (let n = 0; n < 40; n++) write()
  expect(logBytes()).toBeGreaterThan(36 * MIB)
  holder.run('COMMIT')
  holder.close()
  for (let n = 0; n < 12; n++) write()
  expect(logBytes()).toBeLessThan(20 * MIB)
  writer.close()
})
