import { expect, test } from 'bun:test'
import { saidIn } from './said.ts'

test.each([
  ['{"error":{"message":"quota is spent"}}', 'quota is spent'],
  ['{"error":{"message":"a\nb"}}', 'a b'],
  [String.raw`{"message":"it\'s too long"}`, String.raw`it\'s too long`],
  ['{"message":"cut o', ''],
  ['<html>no</html>', ''],
])('the sentence of a failed answer %p is %p', (body, sentence) => {
  expect(saidIn(body)).toBe(sentence)
})
