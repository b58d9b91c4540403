import { Elysia } from 'elysia'
import { z } from 'zod'
import { appError } from '../../core/errors.ts'
import { BODY_BYTES_MAX } from '../../core/limits/contract.ts'
import { EVERYONE } from '../../core/principal.ts'
import { jsonBody } from '../../http/body.ts'
import { type Gate, type Gated, gated } from '../../http/gate.ts'
import type { ChatRouteOptions } from '../shared/endpoint.ts'
import { bodyOf, name } from '../shared/fields.ts'
import { chatRoutes } from './chat-routes.ts'
import { type EmbedOptions, embedRoutes } from './embed-routes.ts'
import { type ContextOf, createOllamaModels, type OllamaModels, unknownModel } from './models.ts'

/** Clients look for features of this version. */
const VERSION = '0.30.0'

export interface OllamaRouteOptions extends Pick<EmbedOptions, 'embeddings' | 'embeddingsRequest'> {
  readonly chat: ChatRouteOptions
  readonly contextOf: ContextOf
}

const HIDDEN = { detail: { hide: true } } as const
const hidden = { allow: EVERYONE, ...HIDDEN } as const
const unread = { ...hidden, parse: 'none' } as const

/** The paths of Ollama's API: the assistants as its models, and the same turns. */
export const ollamaRoutes = (gate: Gate, options: OllamaRouteOptions) => {
  const models = createOllamaModels(options.chat.assistants, options.contextOf)
  const running = () => 'Ollama is running'
  const version = () => ({ version: VERSION })
  const on = gated(gate)
  listRoutes(on, models)
  chatRoutes(on, options.chat, models)
  embedRoutes(on, { ...options, contexts: options.chat.contexts, clock: options.chat.clock })
  refusedRoutes(on)
  return new Elysia({ prefix: '/ollama' })
    .get('', running, HIDDEN)
    .head('', running, HIDDEN)
    .get('/', running, HIDDEN)
    .head('/', running, HIDDEN)
    .get('/api/version', version, HIDDEN)
    .head('/api/version', version, HIDDEN)
    .use(on)
}

const Named = bodyOf(() => z.object({ model: name().optional(), name: name().optional() }))

const listRoutes = (on: Gated, models: OllamaModels) => {
  const body = jsonBody(Named, { bytesMax: BODY_BYTES_MAX })
  return on
    .get('/api/tags', ({ principal }) => models.list(principal), hidden)
    .head('/api/tags', ({ principal }) => models.list(principal), hidden)
    .get('/api/ps', () => ({ models: [] }), hidden)
    .head('/api/ps', () => ({ models: [] }), hidden)
    .post(
      '/api/show',
      async ({ principal, request, upload }) => {
        const { model, name: other = '' } = await body.read(request, upload)
        return models.show(principal, model || other)
      },
      unread,
    )
    .post(
      '/api/pull',
      async ({ principal, request, upload, set }) => {
        const { model, name: other = '' } = await body.read(request, upload)
        const wanted = model || other
        if (wanted === '') throw unknownModel(wanted)
        await models.find(principal, wanted)
        set.headers['content-type'] = 'application/x-ndjson'
        return `${JSON.stringify({ status: 'success' })}\n`
      },
      unread,
    )
}

/** Models are not made here. */
function refusedRoutes(on: Gated) {
  const refuse = ({ principal }: { readonly principal: { readonly kind: string } }): never => {
    throw appError('forbidden', { who: principal.kind })
  }
  return on
    .post('/api/push', refuse, unread)
    .post('/api/create', refuse, unread)
    .post('/api/copy', refuse, unread)
    .delete('/api/delete', refuse, unread)
    .post('/api/blobs/:digest', refuse, unread)
    .head('/api/blobs/:digest', refuse, unread)
}
