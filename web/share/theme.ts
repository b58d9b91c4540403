// Runs before the first paint: the page has the theme of the system.
const dark = matchMedia('(prefers-color-scheme: dark)')
const show = () => {
  document.documentElement.dataset.theme = dark.matches ? 'dark' : 'light'
}
dark.addEventListener('change', show)
show()

export {}
