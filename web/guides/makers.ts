import type { Language } from '../i18n/index.tsx'

const texts = {
  zh: () => import('./makers.zh.md', { with: { type: 'text' } }),
  en: () => import('./makers.en.md', { with: { type: 'text' } }),
}

/** The programs of the guide, which are files of their own so that tests run what it shows. */
const programs = {
  'moonbase-device.py': () => import('./moonbase-device.py', { with: { type: 'text' } }),
  'moonbase-device.ino': () => import('./moonbase-device.ino', { with: { type: 'text' } }),
}

/** The guide for makers of devices as Markdown, its programs in their places. */
export async function makersGuide(language: Language): Promise<string> {
  let { default: guide } = await texts[language]()
  for (const [name, load] of Object.entries(programs)) {
    const { default: program } = await load()
    guide = guide.replace(`{{${name}}}`, () => program.trimEnd())
  }
  return guide
}
