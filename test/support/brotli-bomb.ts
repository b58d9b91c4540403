import { once } from 'node:events'
import { constants, createBrotliCompress } from 'node:zlib'

const BLOCK = Buffer.alloc(1024 * 1024)

/** `megabytes` of zeros, compressed to some kilobytes in a stream, never whole in memory. */
export async function brotliBomb(megabytes: number): Promise<Uint8Array> {
  const packer = createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })
  const parts: Buffer[] = []
  packer.on('data', (part: Buffer) => parts.push(part))
  for (let n = 0; n < megabytes; n += 1) {
    if (!packer.write(BLOCK)) await once(packer, 'drain')
  }
  packer.end()
  await once(packer, 'end')
  return Buffer.concat(parts)
}
