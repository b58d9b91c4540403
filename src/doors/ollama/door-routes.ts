import type { DoorRoutes, Lane } from '../../http/door-routes.ts'

/** Home Assistant asks every 30 seconds. */
const POLL: Lane = { name: 'ollama', most: 120, counts: false }

/** The routes of Ollama's API. */
export const OLLAMA_ROUTES: DoorRoutes = {
  labels: {
    'POST /ollama/api/chat': '/ollama/chat',
    'POST /ollama/api/generate': '/ollama/generate',
    'POST /ollama/api/embed': '/ollama/embed',
    'POST /ollama/api/embeddings': '/ollama/embed',
  },
  turns: ['/ollama/api/chat', '/ollama/api/generate'],
  lanes: { '/ollama/api/tags': POLL, '/ollama/api/show': POLL, '/ollama/api/ps': POLL },
}
