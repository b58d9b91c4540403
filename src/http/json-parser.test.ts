import { expect, test } from 'bun:test'
import { fakeClock } from '../../test/support/clock.ts'
import { createJsonParser } from './json-parser.ts'

const workerOf = (code: string) => URL.createObjectURL(new Blob([code]))
const bytes = () => new TextEncoder().encode('{"a":1}')

test.each([
  ['ends without a word', 'onmessage = () => process.exit(0)'],
  ['throws', 'onmessage = () => { throw new Error("broken") }'],
])('a body fails alone when the thread that parses it %s', async (_, code) => {
  const parser = createJsonParser({ clock: fakeClock(), workerUrl: workerOf(code) })
  await expect(parser.parse('t', bytes())).rejects.toThrow('the JSON thread')
  await expect(parser.parse('t', bytes())).rejects.toThrow('the JSON thread')
  await parser.close()
})
