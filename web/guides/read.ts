import type { Language } from '../i18n/index.tsx'
import type { GuideId } from './pages.ts'

type Load = () => Promise<{ readonly default: string }>

/** Each page of the manual is a separate file, loaded when it is opened. */
const texts: Readonly<Record<Language, Readonly<Record<GuideId, Load>>>> = {
  zh: {
    start: () => import('./zh/start.md', { with: { type: 'text' } }),
    models: () => import('./zh/models.md', { with: { type: 'text' } }),
    kb: () => import('./zh/kb.md', { with: { type: 'text' } }),
    apps: () => import('./zh/apps.md', { with: { type: 'text' } }),
    tools: () => import('./zh/tools.md', { with: { type: 'text' } }),
    mcp: () => import('./zh/mcp.md', { with: { type: 'text' } }),
    webhooks: () => import('./zh/webhooks.md', { with: { type: 'text' } }),
    typescript: () => import('./zh/typescript.md', { with: { type: 'text' } }),
    python: () => import('./zh/python.md', { with: { type: 'text' } }),
    curl: () => import('./zh/curl.md', { with: { type: 'text' } }),
    agents: () => import('./zh/agents.md', { with: { type: 'text' } }),
    claude: () => import('./zh/claude.md', { with: { type: 'text' } }),
    ollama: () => import('./zh/ollama.md', { with: { type: 'text' } }),
    openwebui: () => import('./zh/openwebui.md', { with: { type: 'text' } }),
    homeassistant: () => import('./zh/homeassistant.md', { with: { type: 'text' } }),
    team: () => import('./zh/team.md', { with: { type: 'text' } }),
    usage: () => import('./zh/usage.md', { with: { type: 'text' } }),
    devices: () => import('./zh/devices.md', { with: { type: 'text' } }),
    xiaozhi: () => import('./zh/xiaozhi.md', { with: { type: 'text' } }),
    voice: () => import('./zh/voice.md', { with: { type: 'text' } }),
    operate: () => import('./zh/operate.md', { with: { type: 'text' } }),
    postgres: () => import('./zh/postgres.md', { with: { type: 'text' } }),
    security: () => import('./zh/security.md', { with: { type: 'text' } }),
    settings: () => import('./zh/settings.md', { with: { type: 'text' } }),
    licences: () => import('./zh/licences.md', { with: { type: 'text' } }),
    api: () => import('./zh/api.md', { with: { type: 'text' } }),
    errors: () => import('./zh/errors.md', { with: { type: 'text' } }),
  },
  en: {
    start: () => import('./en/start.md', { with: { type: 'text' } }),
    models: () => import('./en/models.md', { with: { type: 'text' } }),
    kb: () => import('./en/kb.md', { with: { type: 'text' } }),
    apps: () => import('./en/apps.md', { with: { type: 'text' } }),
    tools: () => import('./en/tools.md', { with: { type: 'text' } }),
    mcp: () => import('./en/mcp.md', { with: { type: 'text' } }),
    webhooks: () => import('./en/webhooks.md', { with: { type: 'text' } }),
    typescript: () => import('./en/typescript.md', { with: { type: 'text' } }),
    python: () => import('./en/python.md', { with: { type: 'text' } }),
    curl: () => import('./en/curl.md', { with: { type: 'text' } }),
    agents: () => import('./en/agents.md', { with: { type: 'text' } }),
    claude: () => import('./en/claude.md', { with: { type: 'text' } }),
    ollama: () => import('./en/ollama.md', { with: { type: 'text' } }),
    openwebui: () => import('./en/openwebui.md', { with: { type: 'text' } }),
    homeassistant: () => import('./en/homeassistant.md', { with: { type: 'text' } }),
    team: () => import('./en/team.md', { with: { type: 'text' } }),
    usage: () => import('./en/usage.md', { with: { type: 'text' } }),
    devices: () => import('./en/devices.md', { with: { type: 'text' } }),
    xiaozhi: () => import('./en/xiaozhi.md', { with: { type: 'text' } }),
    voice: () => import('./en/voice.md', { with: { type: 'text' } }),
    operate: () => import('./en/operate.md', { with: { type: 'text' } }),
    postgres: () => import('./en/postgres.md', { with: { type: 'text' } }),
    security: () => import('./en/security.md', { with: { type: 'text' } }),
    settings: () => import('./en/settings.md', { with: { type: 'text' } }),
    licences: () => import('./en/licences.md', { with: { type: 'text' } }),
    api: () => import('./en/api.md', { with: { type: 'text' } }),
    errors: () => import('./en/errors.md', { with: { type: 'text' } }),
  },
}

/** The programs of the page on devices, kept as files so that tests can run them. */
const programs: Readonly<Record<string, Load>> = {
  'moonbase-device.py': () => import('./moonbase-device.py', { with: { type: 'text' } }),
  'moonbase-device.ino': () => import('./moonbase-device.ino', { with: { type: 'text' } }),
}

/** Drawings by the path that the pages give, so that they also show where the source is read. */
const pictures: Readonly<Record<string, Load>> = {
  '../../pictures/xiaozhi/address.svg': () =>
    import('../pictures/xiaozhi/address.svg', { with: { type: 'text' } }),
  '../../pictures/xiaozhi/hotspot.svg': () =>
    import('../pictures/xiaozhi/hotspot.svg', { with: { type: 'text' } }),
  '../../pictures/xiaozhi/advanced.svg': () =>
    import('../pictures/xiaozhi/advanced.svg', { with: { type: 'text' } }),
  '../../pictures/xiaozhi/wifi.svg': () =>
    import('../pictures/xiaozhi/wifi.svg', { with: { type: 'text' } }),
  '../../pictures/xiaozhi/ready.svg': () =>
    import('../pictures/xiaozhi/ready.svg', { with: { type: 'text' } }),
  '../../pictures/xiaozhi/digits.svg': () =>
    import('../pictures/xiaozhi/digits.svg', { with: { type: 'text' } }),
}

/** Comments around the output of scripts/manual.ts. */
const GENERATED_MARK = /^<!-- .* -->\n/gm

/** A page of the manual as Markdown, with its programs and pictures inserted. */
export async function readGuide(id: GuideId, language: Language): Promise<string> {
  const { default: text } = await texts[language][id]()
  let guide = text.replace(GENERATED_MARK, '')
  for (const [name, load] of Object.entries(programs)) {
    if (!guide.includes(`{{${name}}}`)) continue
    const { default: program } = await load()
    guide = guide.replace(`{{${name}}}`, () => program.trimEnd())
  }
  for (const [path, load] of Object.entries(pictures)) {
    if (!guide.includes(`](${path})`)) continue
    const { default: drawing } = await load()
    const url = `data:image/svg+xml,${encodeURIComponent(drawing)}`
    guide = guide.replace(`](${path})`, () => `](${url})`)
  }
  return guide
}
