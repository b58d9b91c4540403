import { expect, test } from 'bun:test'
import { renderToStaticMarkup } from 'react-dom/server'
import { I18nProvider, type Language, useI18n } from './index.tsx'

function Said() {
  const { t } = useI18n()
  return t('kb.docs.count', { count: 12_500, max: '7000' })
}

test.each<Language>(['zh', 'en'])('a %s text writes its numbers in groups', (language) => {
  const dictionary = { 'kb.docs.count': '{count}/{max}/{other}' }
  const initial = { language, dictionary, words: () => null }
  const said = renderToStaticMarkup(
    <I18nProvider initial={initial}>
      <Said />
    </I18nProvider>,
  )
  expect(said).toBe('12,500/7000/{other}')
})
