/** The pages of the manual by section; src/core/manual.ts lists the same addresses. */
export const GUIDE_GROUPS = [
  { id: 'use', pages: ['start', 'models', 'kb', 'apps', 'tools', 'mcp', 'webhooks'] },
  {
    id: 'connect',
    pages: [
      'typescript',
      'python',
      'curl',
      'agents',
      'claude',
      'ollama',
      'openwebui',
      'homeassistant',
    ],
  },
  { id: 'sound', pages: ['devices', 'xiaozhi', 'voice'] },
  {
    id: 'run',
    pages: ['team', 'operate', 'postgres', 'usage', 'security', 'settings', 'licences'],
  },
  { id: 'build', pages: ['api', 'errors'] },
] as const

export type GuideId = (typeof GUIDE_GROUPS)[number]['pages'][number]

export const GUIDE_IDS: readonly GuideId[] = GUIDE_GROUPS.flatMap(({ pages }) => pages)

export const isGuide = (id: string): id is GuideId => GUIDE_IDS.some((known) => known === id)

/** The manual opens with its first page. */
export const guidePath = (id: GuideId): string => (id === 'start' ? '/docs' : `/docs/${id}`)
