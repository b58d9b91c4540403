/**
 * The product's writer thread with a crash on request: it throws on a statement with the argument
 * `die`, and on opening while a file `<database>.hold` exists.
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
