import { readFile } from 'node:fs/promises'

export interface Table {
  readonly rows: number
  readonly dimensions: number
  readonly values: Float32Array
}

interface TensorEntry {
  readonly dtype: string
  readonly shape: readonly number[]
  readonly data_offsets: readonly [number, number]
}

/**
 * Reads one two-dimensional tensor of a safetensors file: eight bytes with the length of a JSON
 * header, the header, then the data. Throws on anything that is not such a file.
 */
export async function readTable(path: string, names: readonly string[]): Promise<Table> {
  const bytes = await readFile(path)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const headerBytes = Number(view.getBigUint64(0, true))
  const header: Record<string, TensorEntry> = JSON.parse(bytes.toString('utf8', 8, 8 + headerBytes))
  const entry = names.map((name) => header[name]).find(Boolean)
  const [rows, dimensions] = entry?.shape ?? []
  if (!entry || !rows || !dimensions) throw new Error(`no table ${names.join(' or ')} in the file`)
  const [from, to] = entry.data_offsets
  const data = bytes.subarray(8 + headerBytes + from, 8 + headerBytes + to)
  const values = toFloats(data, entry.dtype)
  if (values.length !== rows * dimensions) throw new Error('the table has the wrong size')
  return { rows, dimensions, values }
}

function toFloats(data: Uint8Array, dtype: string): Float32Array {
  const copy = new Uint8Array(data).buffer
  switch (dtype) {
    case 'F32':
      return new Float32Array(copy)
    case 'F16':
      return Float32Array.from(new Float16Array(copy))
    case 'F64':
      return Float32Array.from(new Float64Array(copy))
    case 'I8':
      return Float32Array.from(new Int8Array(copy))
    case 'BF16':
      return new Float32Array(Uint32Array.from(new Uint16Array(copy), (half) => half << 16).buffer)
    default:
      throw new Error(`tables of type ${dtype} are not supported`)
  }
}
