import { expect, test } from 'bun:test'
import { nearestSentence } from './sentence.ts'

const marked = (text: string, quote: string) => {
  const span = nearestSentence(text, quote)
  return span && text.slice(span.from, span.to).trim()
}

test('the sentence that a reply draws on is found in its passage', () => {
  const english = 'Shops open at nine. Goods may be returned within 14 days. Pay by card.'
  expect(marked(english, 'You have 14 days to send goods back.')).toBe(
    'Goods may be returned within 14 days.',
  )
  const chinese = '门店九点开门。退货须在签收后七天内提出。换货不收运费。'
  expect(marked(chinese, '签收后七天内可以退货。')).toBe('退货须在签收后七天内提出。')
  expect(marked(english, 'Nothing of the kind')).toBe(null)
})
