import { expect, test } from 'bun:test'
import { renderToStaticMarkup } from 'react-dom/server'
import { IMAGE_PLACEHOLDER } from '../../../src/core/limits/contract.ts'
import { en } from '../../i18n/en.ts'
import { I18nProvider } from '../../i18n/index.tsx'
import { zh } from '../../i18n/zh.ts'
import { useShownTitle } from './shown-title.ts'

const Title = ({ of }: { readonly of: string }) => useShownTitle()(of)

test.each([
  ['en', en, 'What is this? [picture] [picture]'],
  ['zh', zh, 'What is this? [图片] [图片]'],
] as const)('pictures in a title are noted in the language of the page: %s', (...given) => {
  const [language, dictionary, shown] = given
  const title = `What is this? ${IMAGE_PLACEHOLDER} ${IMAGE_PLACEHOLDER}`
  const html = renderToStaticMarkup(
    <I18nProvider initial={{ language, dictionary, words: () => null }}>
      <Title of={title} />
    </I18nProvider>,
  )
  expect(html).toBe(shown)
})
