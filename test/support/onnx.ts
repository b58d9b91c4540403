/**
 * Writes small ONNX models by the field numbers of onnx.proto: the part of the format that graphs
 * of matrix products, sums and look-ups need.
 */
export const FLOAT = 1
export const INT32 = 6
export const INT64 = 7

export interface TinyModel {
  readonly nodes: readonly Node[]
  readonly inputs: readonly Value[]
  readonly outputs: readonly Value[]
  readonly constants?: readonly Constant[]
  readonly metadata?: Readonly<Record<string, string | number>>
}

export interface Node {
  readonly op: string
  readonly from: readonly string[]
  readonly to: string
  readonly attributes?: Readonly<Record<string, number | readonly number[]>>
}

/** A string names a dimension whose size is known at run time only. */
export interface Value {
  readonly name: string
  readonly type: number
  readonly shape: readonly (number | string)[]
}

export interface Constant {
  readonly name: string
  readonly shape: readonly number[]
  readonly values: Float32Array
}

const OPSET = 17
const IR_VERSION = 8

export function onnxModel(model: TinyModel): Uint8Array {
  const { nodes, inputs, outputs, constants = [], metadata = {} } = model
  const graph = [
    ...nodes.map((node) => message(1, nodeOf(node))),
    string(2, 'graph'),
    ...constants.map((constant) => message(5, tensorOf(constant))),
    ...inputs.map((value) => message(11, described(value))),
    ...outputs.map((value) => message(12, described(value))),
  ]
  const properties = Object.entries(metadata).map(([key, value]) =>
    message(14, [string(1, key), string(2, String(value))]),
  )
  const parts = [int(1, IR_VERSION), message(7, graph), message(8, [int(2, OPSET)]), ...properties]
  return new Uint8Array(Buffer.concat(parts))
}

function nodeOf({ op, from, to, attributes = {} }: Node): Uint8Array[] {
  const [INT_TYPE, INTS_TYPE] = [2, 7]
  const attribute = ([name, value]: [string, number | readonly number[]]) =>
    typeof value === 'number'
      ? [string(1, name), int(3, value), int(20, INT_TYPE)]
      : [string(1, name), ...value.map((one) => int(8, one)), int(20, INTS_TYPE)]
  return [
    ...from.map((name) => string(1, name)),
    string(2, to),
    string(4, op),
    ...Object.entries(attributes).map((entry) => message(5, attribute(entry))),
  ]
}

const tensorOf = ({ name, shape, values }: Constant): Uint8Array[] => [
  ...shape.map((size) => int(1, size)),
  int(2, FLOAT),
  string(8, name),
  bytes(9, new Uint8Array(values.buffer)),
]

function described({ name, type, shape }: Value): Uint8Array[] {
  const sizes = shape.map((size) =>
    message(1, [typeof size === 'number' ? int(1, size) : string(2, size)]),
  )
  return [string(1, name), message(2, [message(1, [int(1, type), message(2, sizes)])])]
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))]
}

const int = (field: number, value: number) =>
  Uint8Array.from([...varint(field * 8), ...varint(value)])
const string = (field: number, text: string) => bytes(field, new TextEncoder().encode(text))
const message = (field: number, parts: readonly Uint8Array[]) => bytes(field, Buffer.concat(parts))

function bytes(field: number, value: Uint8Array): Uint8Array {
  return Buffer.concat([
    Uint8Array.from([...varint(field * 8 + 2), ...varint(value.length)]),
    value,
  ])
}
