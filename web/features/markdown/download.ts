const ENDINGS: Readonly<Record<string, string>> = {
  bash: 'sh',
  'c++': 'cpp',
  csharp: 'cs',
  javascript: 'js',
  kotlin: 'kt',
  markdown: 'md',
  mermaid: 'mmd',
  python: 'py',
  ruby: 'rb',
  rust: 'rs',
  shell: 'sh',
  typescript: 'ts',
  'vega-lite': 'vl.json',
}

/** How the name of a file in this language ends. */
export function endingOf(language: string): string {
  const name = language.trim().toLowerCase()
  return ENDINGS[name] ?? (/^[a-z0-9]{1,6}$/.test(name) ? name : 'txt')
}

/** Hands the text to the browser as a file. */
export const download = (text: string, name: string): void =>
  downloadBlob(new Blob([text], { type: 'text/plain' }), name)

/** Safari reads the file some time after the click. */
const READ_MS = 60_000

export function downloadBlob(blob: Blob, name: string): void {
  const link = document.createElement('a')
  const here = URL.createObjectURL(blob)
  link.href = here
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(here), READ_MS)
}
