import { ConfigError } from '../config.ts'
import { appError } from '../core/errors.ts'
import { IDLE_SECONDS_MAX } from '../core/limits/machine.ts'
import { isLoopback } from '../core/loopback.ts'
import type { Principal } from '../core/principal.ts'
import { isLetIn } from '../doors/ollama/wall.ts'
import type { TurnConfigStore } from '../features/agent/store.ts'
import { resolveTurn } from '../features/agent/turn-config.ts'
import { EmbeddingsRequest } from '../features/embeddings/model.ts'
import type { Keys } from '../features/keys/service.ts'
import type { ModelLists } from '../features/provider/model-list.ts'
import { requestIdOf } from '../http/entry.ts'
import { ollamaError } from '../http/error-forms.ts'
import { isKeyless, throughOllama } from '../http/ollama-path.ts'
import type { Adapters } from './adapters.ts'

/** With which the server speaks https. */
interface Certificate {
  readonly cert: string
  readonly key: string
}

type Handle = (request: Request) => Response | Promise<Response>

interface OllamaNeeds {
  readonly keys: Pick<Keys, 'find'>
  readonly configs: Pick<TurnConfigStore, 'load'>
  readonly modelLists: Pick<ModelLists, 'contextOf'>
}

/** The door for clients of Ollama, and the port for those that send no key. */
export function openOllama({ config, log }: Adapters, needs: OllamaNeeds) {
  const { keys, configs, modelLists } = needs
  const { MB_OLLAMA_PORT: port, MB_OLLAMA_KEY: key = null, MB_HOST: hostname } = config
  const { MB_PUBLIC_URL: publicUrl, MB_OLLAMA_ORIGINS: origins } = config
  const publicHost = publicUrl === undefined ? null : new URL(publicUrl).hostname
  const wall = { publicHost, origins }

  function serve(handle: Handle, tls: Certificate | null) {
    const fetch = (request: Request) =>
      isLetIn(request, wall) ? handle(throughOllama(request, true)) : refusal(request)
    try {
      const options: Bun.Serve.Options<undefined> = {
        hostname,
        port: port ?? 0,
        reusePort: false,
        development: false,
        idleTimeout: IDLE_SECONDS_MAX,
        maxRequestBodySize: Number.MAX_SAFE_INTEGER,
        fetch,
      }
      if (tls) options.tls = tls
      return Bun.serve(options)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      throw new ConfigError(`MB_OLLAMA_PORT ${port} cannot be used on ${hostname}: ${code}`)
    }
  }

  return {
    embeddingsRequest: EmbeddingsRequest,

    /** How many tokens the model behind an assistant reads; null where that is not known. */
    async contextOf({ tenantId }: Pick<Principal, 'tenantId'>, appId: string | null) {
      const { model } = resolveTurn(await configs.load(tenantId, appId, null), { kb: false })
      return modelLists.contextOf(tenantId, model)
    },

    /** The key that acts for a request of the port. */
    standIn: (request: Request) => (isKeyless(request) ? key : null),

    /** Listens where a port is set. Throws `ConfigError` where the address is taken. */
    async listen(handle: Handle, tls: Certificate | null = null) {
      if (port === undefined) return null
      const server = serve(handle, tls)
      log.info('ollama port listens', { host: hostname, port: server.port })
      const isOpen = !isLoopback(hostname)
      if (isOpen) {
        log.warn('MB_OLLAMA_PORT is open to the network without a key', { host: hostname })
      }
      const isKnown = (await keys.find(key ?? '')) !== null
      if (!isKnown) {
        log.warn('ollama key is unknown or revoked', { setting: 'MB_OLLAMA_KEY' })
      }
      const notes = [isOpen && 'open to the network', !isKnown && 'its key is unknown or revoked']
      return {
        port: server.port,
        description: [`${hostname}:${server.port}`, ...notes].filter(Boolean).join(', '),
        busy: () => server.pendingRequests,
        stop: () => void server.stop(),
        close: () => void server.stop(true),
      }
    },
  }
}

function refusal(request: Request): Response {
  const error = appError('origin_refused')
  const id = requestIdOf(request)
  const headers = { 'x-moonbase': '1', 'x-error-code': error.code, 'x-request-id': id }
  return Response.json(ollamaError(error), { status: error.status, headers })
}
