import { expect, test } from 'bun:test'
import { normalize } from '../../core/vector.ts'
import { cosine, createKeptVectors } from './kept-vectors.ts'

const unit = (...values: number[]) => normalize(Float32Array.from(values))

test('a kept vector is as like as the whole one, to a hundredth', () => {
  const kept = createKeptVectors()
  const question = unit(0.3, -0.2, 0.9)
  const fact = kept.add({ id: 'a', text: 'x' }, 'm', unit(0.2, 0.5, 0.7))
  const [a, b, c] = unit(0.2, 0.5, 0.7)
  const [x, y, z] = question
  const exact = (a ?? 0) * (x ?? 0) + (b ?? 0) * (y ?? 0) + (c ?? 0) * (z ?? 0)
  expect(cosine(question, fact)).toBeCloseTo(exact, 2)
  expect(cosine(question, kept.add({ id: 'b', text: '' }, 'm', new Float32Array(3)))).toBe(0)
})

test('a vector is found for its text and model alone, the last 16,000', () => {
  const kept = createKeptVectors()
  kept.add({ id: 'a', text: 'x' }, 'm', unit(1, 0))
  expect(kept.find({ id: 'a', text: 'x' }, 'm')).not.toBeNull()
  expect(kept.find({ id: 'a', text: 'y' }, 'm')).toBeNull()
  expect(kept.find({ id: 'a', text: 'x' }, 'n')).toBeNull()
  for (let i = 0; i < 16_000; i++) kept.add({ id: String(i), text: 'x' }, 'm', unit(1, 0))
  expect(kept.find({ id: 'a', text: 'x' }, 'm')).toBeNull()
})
