import type { DoorRoutes } from '../../http/door-routes.ts'

/** The routes of OpenAI's API. */
export const OPENAI_ROUTES: DoorRoutes = {
  labels: {
    'POST /v1/chat/completions': '/v1/chat/completions',
    'POST /v1/responses': '/v1/responses',
    'POST /v1/audio/speech': '/v1/audio/speech',
    'POST /v1/audio/transcriptions': '/v1/audio/transcriptions',
  },
  turns: ['/v1/chat/completions', '/v1/responses'],
}
