import { expect, test } from 'bun:test'
import { dot, normalize } from '../../core/vector.ts'
import { calibration } from './calibrate.ts'

/** Two unit vectors of a given cosine. */
const pair = (cosine: number) =>
  [Float32Array.of(1, 0), Float32Array.of(cosine, Math.sqrt(1 - cosine ** 2))] as const

for (const relevant of [0.05, 0.28, 0.44, 0.6, 0.8, 0.95]) {
  test(`a model whose passages are relevant from ${relevant} on meets the threshold there`, () => {
    const calibrate = calibration(relevant, null)
    const scoreOf = (cosine: number) => {
      const [query, passage] = pair(cosine)
      return dot(calibrate(query, 'query', '问'), calibrate(passage, 'passage', 'an answer'))
    }
    expect(scoreOf(relevant)).toBeCloseTo(0.45, 5)
    const scores = [-0.5, 0, relevant - 0.04, relevant, relevant + 0.04, 1].map(scoreOf)
    expect(scores).toEqual([...scores].sort((a, b) => a - b))
    expect(Math.max(...scores)).toBeLessThanOrEqual(1.000001)
    for (const kind of ['query', 'passage'] as const) {
      const vector = calibrate(normalize(Float32Array.of(3, 4)), kind, '')
      expect(dot(vector, vector)).toBeCloseTo(1, 5)
    }
  })
}

test('without a stated value, or with the threshold itself, nothing changes', () => {
  const vector = Float32Array.of(0.6, 0.8)
  expect(calibration(null, null)(vector, 'query', '')).toBe(vector)
  expect(calibration(0.45, null)(vector, 'query', '')).toBe(vector)
})

const TEXTS = {
  zh: '保修期是两年，凭发票办理。',
  en: 'Two years of warranty.',
  both: '用 NAS 备份',
}
type Text = keyof typeof TEXTS

for (const [relevant, across] of [
  [0.28, 0.23],
  [0.45, 0.3],
  [0.2, 0.2],
  [0.4, -0.5],
] as const) {
  test(`${relevant}, and ${across} across scripts, both meet the threshold`, () => {
    const calibrate = calibration(relevant, across)
    const scoreOf = (cosine: number, question: Text, text: Text) => {
      const [query, passage] = pair(cosine)
      const vectors = [
        calibrate(query, 'query', TEXTS[question]),
        calibrate(passage, 'passage', TEXTS[text]),
      ] as const
      for (const vector of vectors) expect(dot(vector, vector)).toBeCloseTo(1, 5)
      return dot(...vectors)
    }
    for (const text of ['zh', 'en'] as const) {
      expect(scoreOf(relevant, text, text)).toBeCloseTo(0.45, 5)
      const score = scoreOf(relevant, text, 'both')
      expect(score).toBeGreaterThanOrEqual(0.449999)
      expect(score).toBeLessThanOrEqual(scoreOf(relevant, 'zh', 'en') + 1e-6)
    }
    expect(scoreOf(across, 'zh', 'en')).toBeCloseTo(0.45, 5)
    expect(scoreOf(across, 'en', 'zh')).toBeCloseTo(0.45, 5)
  })
}

test('the vector of nothing stays near to nothing', () => {
  expect([...calibration(0.28, null)(new Float32Array(2), 'passage', '')]).toEqual([0, 0, 0])
  expect([...calibration(0.28, 0.2)(new Float32Array(2), 'query', '')]).toEqual([0, 0, 0, 0])
})
