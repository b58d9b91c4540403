import { expect, test } from 'bun:test'
import { dot, normalize } from '../../core/vector.ts'
import { calibration } from './calibrate.ts'

/** Two unit vectors of a given cosine. */
const pair = (cosine: number) =>
  [Float32Array.of(1, 0), Float32Array.of(cosine, Math.sqrt(1 - cosine ** 2))] as const

for (const relevant of [0.05, 0.28, 0.44, 0.6, 0.8, 0.95]) {
  test(`a model whose passages are relevant from ${relevant} on meets the threshold there`, () => {
    const calibrate = calibration(relevant)
    const scoreOf = (cosine: number) => {
      const [query, passage] = pair(cosine)
      return dot(calibrate(query, 'query'), calibrate(passage, 'passage'))
    }
    expect(scoreOf(relevant)).toBeCloseTo(0.45, 5)
    const scores = [-0.5, 0, relevant - 0.04, relevant, relevant + 0.04, 1].map(scoreOf)
    expect(scores).toEqual([...scores].sort((a, b) => a - b))
    expect(Math.max(...scores)).toBeLessThanOrEqual(1.000001)
    for (const kind of ['query', 'passage'] as const) {
      const vector = calibrate(normalize(Float32Array.of(3, 4)), kind)
      expect(dot(vector, vector)).toBeCloseTo(1, 5)
    }
  })
}

test('without a stated value, or with the threshold itself, nothing changes', () => {
  const vector = Float32Array.of(0.6, 0.8)
  expect(calibration(null)(vector, 'query')).toBe(vector)
  expect(calibration(0.45)(vector, 'query')).toBe(vector)
})

test('the vector of nothing stays near to nothing', () => {
  const calibrate = calibration(0.28)
  expect([...calibrate(new Float32Array(2), 'passage')]).toEqual([0, 0, 0])
})
