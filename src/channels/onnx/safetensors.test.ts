import { afterAll, expect, test } from 'bun:test'
import { tempFolder } from '../../../test/support/temp.ts'
import { readTable } from './safetensors.ts'

const folder = tempFolder()
afterAll(() => folder[Symbol.dispose]())

async function write(dtype: string, shape: number[], data: Uint8Array, end = data.length) {
  const header = JSON.stringify({ embeddings: { dtype, shape, data_offsets: [0, end] } })
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(header.length))
  const path = folder.file(`${dtype}-${shape.join('x')}-${end}`)
  await Bun.write(path, Buffer.concat([length, Buffer.from(header), data]))
  return path
}

const bytes = (array: Float32Array | Float64Array | Float16Array | Uint16Array | Int8Array) =>
  new Uint8Array(array.buffer)
const values = [1, -2, 0.5, 4]

const encodings: [string, Uint8Array, number[]][] = [
  ['F32', bytes(Float32Array.from(values)), values],
  ['F64', bytes(Float64Array.from(values)), values],
  ['F16', bytes(Float16Array.from(values)), values],
  ['BF16', bytes(Uint16Array.of(0x3f80, 0xc000, 0x3f00, 0x4080)), values],
  ['I8', bytes(Int8Array.of(1, -2, 3, -128)), [1, -2, 3, -128]],
]
for (const [dtype, data, wanted] of encodings) {
  test(`a safetensors table of ${dtype} is read`, async () => {
    const table = await readTable(await write(dtype, [2, 2], data), ['other', 'embeddings'])
    expect([table.rows, table.dimensions, [...table.values]]).toEqual([2, 2, wanted])
  })
}

test('a malformed safetensors table is refused', async () => {
  const data = bytes(Float32Array.from(values))
  await expect(readTable(await write('F32', [2, 3], data), ['embeddings'])).rejects.toThrow(
    'wrong size',
  )
  await expect(readTable(await write('U4', [2, 2], data), ['embeddings'])).rejects.toThrow('U4')
  await expect(readTable(await write('F32', [4], data), ['embeddings'])).rejects.toThrow('no table')
  await expect(readTable(await write('F32', [2, 2], data), ['weights'])).rejects.toThrow('no table')
  await Bun.write(folder.file('short'), 'abc')
  await expect(readTable(folder.file('short'), ['embeddings'])).rejects.toThrow()
})
