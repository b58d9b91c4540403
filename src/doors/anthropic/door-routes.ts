import type { DoorRoutes } from '../../http/door-routes.ts'

const COUNTS_A_MINUTE = 300

/** The routes of Anthropic's API. */
export const MESSAGE_ROUTES: DoorRoutes = {
  labels: {
    'POST /v1/messages': '/v1/messages',
    'POST /v1/messages/count_tokens': '/v1/messages/count_tokens',
  },
  turns: ['/v1/messages'],
  lanes: {
    '/v1/messages/count_tokens': { name: 'count', most: COUNTS_A_MINUTE, counts: true },
  },
  apiKey: ['/v1/messages', '/v1/messages/count_tokens', '/v1/models', '/v1/models/:id'],
  // Claude Code warms its connection up.
  unheard: ['HEAD /api/hello'],
}
