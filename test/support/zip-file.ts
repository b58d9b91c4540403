import { crc32, deflateRawSync } from 'node:zlib'

/** What a file in an archive holds; a bomb comes packed, with what it claims to unpack to. */
export type ZipContents =
  | string
  | Uint8Array
  | { readonly deflated: Uint8Array; readonly crc32: number }

export interface ZipOptions {
  /** Names of files that are not compressed. */
  readonly stored?: readonly string[]
}

/** Writes a zip archive with any names (APPNOTE 6.3.10). */
export function zipFile(
  files: Readonly<Record<string, ZipContents>>,
  { stored = ['mimetype'] }: ZipOptions = {},
): Uint8Array {
  const locals: Buffer[] = []
  const entries: Buffer[] = []
  let at = 0
  for (const [path, contents] of Object.entries(files)) {
    const name = Buffer.from(path)
    const { method, packed, size, sum } = pack(contents, stored.includes(path))
    const fields = Buffer.alloc(26)
    fields.writeUInt16LE(20, 0)
    fields.writeUInt16LE(0x800, 2)
    fields.writeUInt16LE(method, 4)
    fields.writeUInt32LE(sum, 10)
    fields.writeUInt32LE(packed.length, 14)
    fields.writeUInt32LE(size, 18)
    fields.writeUInt16LE(name.length, 22)
    locals.push(Buffer.from('PK\x03\x04'), fields, name, Buffer.from(packed))
    const offset = Buffer.alloc(14)
    offset.writeUInt32LE(at, 10)
    entries.push(Buffer.from('PK\x01\x02\x14\0'), fields, offset, name)
    at += 4 + fields.length + name.length + packed.length
  }
  const directory = Buffer.concat(entries)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06')
  end.writeUInt16LE(Object.keys(files).length, 8)
  end.writeUInt16LE(Object.keys(files).length, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(at, 16)
  return new Uint8Array(Buffer.concat([...locals, directory, end]))
}

const [STORED, DEFLATED] = [0, 8]

function pack(contents: ZipContents, isStored: boolean) {
  if (typeof contents === 'object' && 'deflated' in contents) {
    return { method: DEFLATED, packed: contents.deflated, size: 0, sum: contents.crc32 }
  }
  const bytes = typeof contents === 'string' ? Buffer.from(contents) : contents
  return {
    method: isStored ? STORED : DEFLATED,
    packed: isStored ? bytes : deflateRawSync(bytes),
    size: bytes.length,
    sum: crc32(bytes),
  }
}
