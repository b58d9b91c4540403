import { expect, test } from 'bun:test'
import { scoreScale } from './score-scale.ts'

for (const relevant of [0.05, 0.28, 0.44, 0.6, 0.8, 0.95]) {
  test(`a model whose passages are relevant from ${relevant} on meets the threshold there`, () => {
    const score = scoreScale(relevant, null)
    expect(score(relevant, '问', 'an answer')).toBeCloseTo(0.45, 6)
    const scores = [-0.5, 0, relevant - 0.04, relevant, relevant + 0.04, 1].map((cosine) =>
      score(cosine, '问', 'an answer'),
    )
    expect(scores).toEqual([...scores].sort((a, b) => a - b))
    expect(Math.max(...scores)).toBeLessThanOrEqual(1)
  })
}

test('the score is the cosine without a stated relevance, or with the threshold', () => {
  expect(scoreScale(null, null)(0.3, 'q', 'p')).toBe(0.3)
  expect(scoreScale(0.45, null)(0.3, 'q', 'p')).toBe(0.3)
})

const TEXTS = {
  zh: '保修期是两年，凭发票办理。',
  en: 'Two years of warranty.',
  both: '用 NAS 备份',
}

for (const [relevant, across] of [
  [0.28, 0.23],
  [0.45, 0.3],
  [0.2, 0.2],
  [0.4, -0.5],
] as const) {
  test(`cosine ${relevant} in one script and ${across} across scripts meet the threshold`, () => {
    const score = scoreScale(relevant, across)
    for (const text of ['zh', 'en'] as const) {
      expect(score(relevant, TEXTS[text], TEXTS[text])).toBeCloseTo(0.45, 6)
      const mixed = score(relevant, TEXTS[text], TEXTS.both)
      expect(mixed).toBeGreaterThanOrEqual(0.449999)
      expect(mixed).toBeLessThanOrEqual(score(relevant, TEXTS.zh, TEXTS.en) + 1e-6)
    }
    expect(score(across, TEXTS.zh, TEXTS.en)).toBeCloseTo(0.45, 6)
    expect(score(across, TEXTS.en, TEXTS.zh)).toBeCloseTo(0.45, 6)
  })
}
