import { kept } from './lib/kept.ts'

// Runs before the first paint, so that the page does not flash in the wrong theme or language.
const system = matchMedia('(prefers-color-scheme: dark)')

function apply(): void {
  const saved = kept('mb.theme')
  const dark = saved === 'dark' || (saved !== 'light' && system.matches)
  document.documentElement.dataset.theme = dark ? 'dark' : 'light'
}

apply()
// A phone becomes dark in the evening, with the page open.
system.addEventListener('change', apply)

// A page that the server writes holds its words in both languages.
const language = kept('mb.language')
if (language === 'zh' || language === 'en') {
  document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en'
}

// The newest thing of a browser that the scripts need, of the end of 2023.
if (!('withResolvers' in Promise)) {
  addEventListener('DOMContentLoaded', () => {
    document.body.textContent = '浏览器版本过旧，请更新。This browser is too old.'
  })
}
