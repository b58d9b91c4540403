/**
 * The product's writer thread, made mortal: it dies when it is given the text `die`, and while a
 * file `<database>.hold` exists it dies as soon as it is told to open.
 */
import { existsSync } from 'node:fs'
import '../../src/storage/sqlite/writer.ts'
import type { WriterRequest } from '../../src/storage/sqlite/writer.ts'

declare const self: Worker

const { onmessage } = self
self.onmessage = (event: MessageEvent<WriterRequest>) => {
  const { data } = event
  if (data.type === 'open' && existsSync(`${data.file.path}.hold`)) throw new Error('held')
  if (data.type === 'write') {
    const args = data.batches.flat().flatMap((statement) => statement.args)
    if (args.includes('die')) throw new Error('lost')
  }
  onmessage?.call(self, event)
}
