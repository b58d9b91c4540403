import { opus, tone } from './recordings.ts'

// Recordings of under a kilobyte whose headers declare far more data than they contain.

const u8 = (...values: number[]) => Buffer.from(values)
function u32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4)
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, index * 4)
  return bytes
}

/** A box of ISO/IEC 14496-12. */
function box(type: string, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content)
  return Buffer.concat([u32(body.length + 8), Buffer.from(type, 'latin1'), body])
}
/** A full box of ISO/IEC 14496-12, with version and flags. */
const fullBox = (type: string, flags: number, ...content: readonly Buffer[]) =>
  box(type, u32(flags), ...content)

const MOST = 0xffffffff
const RATE = 48_000
const TRACK = 1
const DO_NOT_CARE = (bytes: number) => Buffer.alloc(bytes)

/** Opus, one channel. */
const description = () =>
  fullBox(
    'stsd',
    0,
    u32(1),
    box(
      'Opus',
      ...[DO_NOT_CARE(6), u8(0, 1), DO_NOT_CARE(8), u8(0, 1, 0, 16), DO_NOT_CARE(4)],
      u32(RATE * 65_536),
      box('dOps', u8(0, 1, 0, 0), u32(RATE), u8(0, 0, 0)),
    ),
  )

function movie(sampleTables: readonly Buffer[], more: readonly Buffer[]): Buffer {
  const media = box(
    'mdia',
    fullBox('mdhd', 0, u32(0, 0, RATE, 0), u8(0x55, 0xc4, 0, 0)),
    fullBox('hdlr', 0, u32(0), Buffer.from('soun'), DO_NOT_CARE(13)),
    box(
      'minf',
      fullBox('smhd', 0, u32(0)),
      box('dinf', fullBox('dref', 0, u32(1), fullBox('url ', 1))),
      box('stbl', description(), ...sampleTables),
    ),
  )
  const track = box('trak', fullBox('tkhd', 3, u32(0, 0, TRACK, 0, 0), DO_NOT_CARE(60)), media)
  const header = fullBox('mvhd', 0, u32(0, 0, RATE, 0), DO_NOT_CARE(80))
  return Buffer.concat([
    box('ftyp', Buffer.from('isom'), u32(0), Buffer.from('isomiso5')),
    box('moov', header, track, ...more),
  ])
}

/** A fragment that declares 4,294,967,295 samples without data. */
export function endlessFragment(): Uint8Array {
  const empty = [
    fullBox('stts', 0, u32(0)),
    fullBox('stsc', 0, u32(0)),
    fullBox('stsz', 0, u32(0, 0)),
    fullBox('stco', 0, u32(0)),
  ]
  const extends_ = box('mvex', fullBox('trex', 0, u32(TRACK, 1, 960, 3, 0)))
  const track = box(
    'traf',
    fullBox('tfhd', 0x02_00_00, u32(TRACK)),
    fullBox('tfdt', 0, u32(0)),
    fullBox('trun', 0, u32(MOST)),
  )
  const fragment = box('moof', fullBox('mfhd', 0, u32(1)), track)
  const data = box('mdat', Buffer.alloc(8))
  return new Uint8Array(Buffer.concat([movie(empty, [extends_]), fragment, data]))
}

/** A table of 4,294,967,295 sample sizes of zero bits each. */
export function endlessSizes(): Uint8Array {
  const tables = [
    fullBox('stts', 0, u32(1, 1, 960)),
    fullBox('stsc', 0, u32(1, 1, 1, 1)),
    fullBox('stz2', 0, u8(0, 0, 0, 0), u32(MOST)),
    fullBox('stco', 0, u32(1, 8)),
  ]
  return new Uint8Array(Buffer.concat([movie(tables, []), box('mdat', Buffer.alloc(8))]))
}

/** A WebM whose element length is a variable-length integer without its length marker. */
export async function spinningWebm(): Promise<Uint8Array> {
  const bytes = await opus('webm', tone(RATE, 1))
  const segment = Buffer.from(bytes).indexOf(Buffer.from('114d9b74', 'hex'))
  const length = segment + 4
  bytes[length] = 0
  return bytes
}
