import { expect, test } from 'bun:test'
import { renderToStaticMarkup } from 'react-dom/server'
import { en } from '../i18n/en.ts'
import { I18nProvider } from '../i18n/index.tsx'
import { AreaField } from './form.tsx'

const shown = (value: string, charsMax: number) =>
  renderToStaticMarkup(
    <I18nProvider initial={{ language: 'en', dictionary: en, words: () => null }}>
      <AreaField label="Text" value={value} charsMax={charsMax} onText={() => {}} />
    </I18nProvider>,
  )

test('characters of a field are counted from near its limit on', () => {
  expect(shown('', 726)).not.toContain('726')
  expect(shown('x'.repeat(79), 100)).not.toContain('100')
  // Spaces around are none, and a moon is one.
  expect(shown(` ${'🌙'.repeat(79)} `, 100)).not.toContain('100')
  expect(shown('🌙'.repeat(80), 100)).toContain('80 / 100')
  const over = shown('x'.repeat(1_001), 1_000)
  expect(over).toContain('1,001 / 1,000')
  expect(over).toContain('text-bad')
})
