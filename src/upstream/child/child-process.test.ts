import { expect, test } from 'bun:test'
import { createStderrSummary } from './child-process.ts'

const streamOf = (...parts: readonly string[]) => new Blob([...parts]).stream()

test.each([
  [
    "terminating: 'Ort::Exception'\n  what():  Protobuf parsing failed.\npanic: abort()\n",
    'Protobuf parsing failed.',
  ],
  [
    "/shared/sherpa-onnx/csrc/model.cc:InitEncoder:355 'n_mels' does not exist in the metadata\n",
    "'n_mels' does not exist in the metadata",
  ],
  ['some other words\n', null],
  ['', null],
])('%j is summarised in one line', async (printed, words) => {
  const complaint = createStderrSummary()
  await complaint.read(streamOf(printed))
  expect(complaint.words()).toBe(words)
})

test('a process that prints without end fills no memory, and is read to its end', async () => {
  const complaint = createStderrSummary()
  await complaint.read(streamOf('x'.repeat(1_000_000), '\n  what():  too late\n'))
  expect(complaint.words()).toBeNull()
})
