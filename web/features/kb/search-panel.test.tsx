import { expect, test } from 'bun:test'
import { renderToStaticMarkup } from 'react-dom/server'
import type { KbHit } from '../../api/types.ts'
import { en } from '../../i18n/en.ts'
import { I18nProvider } from '../../i18n/index.tsx'
import { Hits } from './search-panel.tsx'

const hit = (score: number, relevance: number): KbHit => ({
  doc_id: 'd',
  title: 'Returns',
  seq: 0,
  score,
  relevance,
  sentence: 'Goods may be returned within 14 days.',
  shown: Math.min(score, relevance) >= 0.45,
  collection_id: null,
  text: 'Goods may be returned within 14 days.',
  page: null,
  heading: null,
  url: null,
})

test.each([
  [0.62, 0.91, 'may be used in an answer', 'very likely answers', 'Both reach 0.45.'],
  [0.62, 0.5, 'may be used in an answer', 'may answer', 'Both reach 0.45.'],
  [0.62, 0.2, 'not used in an answer', 'hardly answers', 'The relevance is below 0.45'],
  [0.31, 0.6, 'not used in an answer', 'may answer', 'The similarity is below 0.45.'],
  [0.31, 0.2, 'not used in an answer', 'hardly answers', 'Both are below 0.45.'],
])(
  'a hit of score %p and relevance %p says both and why',
  (score, relevance, given, likely, why) => {
    const html = renderToStaticMarkup(
      <I18nProvider initial={{ language: 'en', dictionary: en, words: () => null }}>
        <Hits results={[hit(score, relevance)]} onOpen={() => {}} />
      </I18nProvider>,
    )
    for (const said of [given, likely, why, `Similarity ${score.toFixed(2)}`]) {
      expect(html).toContain(said)
    }
    expect(html).toContain(`Relevance ${relevance.toFixed(2)}`)
  },
)
