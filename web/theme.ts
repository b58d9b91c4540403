// Runs before the first paint, so that the page does not flash in the wrong theme or language.
const saved = localStorage.getItem('mb.theme')
const dark =
  saved === 'dark' || (saved !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
document.documentElement.dataset.theme = dark ? 'dark' : 'light'

// A page that the server writes holds its words in both languages.
const language = localStorage.getItem('mb.language')
if (language === 'zh' || language === 'en') {
  document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en'
}

export {}
