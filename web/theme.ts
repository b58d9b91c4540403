// Runs before the first paint, so that the page does not flash in the wrong theme.
const saved = localStorage.getItem('mb.theme')
const dark =
  saved === 'dark' || (saved !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
document.documentElement.dataset.theme = dark ? 'dark' : 'light'

export {}
