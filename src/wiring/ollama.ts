import { ConfigError } from '../config.ts'
import { appError } from '../core/errors.ts'
import { IDLE_SECONDS_MAX } from '../core/limits/machine.ts'
import { isLetIn } from '../doors/ollama/wall.ts'
import { EmbeddingsRequest } from '../features/embeddings/model.ts'
import type { Keys } from '../features/keys/service.ts'
import { ollamaError } from '../http/error-forms.ts'
import { isKeyless, throughOllama } from '../http/ollama-path.ts'
import type { Adapters } from './adapters.ts'

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/

type Handle = (request: Request) => Response | Promise<Response>

/** The door for clients of Ollama, and the port for those that send no key. */
export function openOllama({ config, log }: Adapters, keys: Pick<Keys, 'find'>) {
  const { MB_OLLAMA_PORT: port, MB_OLLAMA_KEY: key = null, MB_HOST: hostname } = config
  const { MB_PUBLIC_URL: publicUrl, MB_OLLAMA_ORIGINS: origins } = config
  const publicHost = publicUrl === undefined ? null : new URL(publicUrl).hostname
  const wall = { publicHost, origins }

  function serve(handle: Handle) {
    const fetch = (request: Request) =>
      isLetIn(request, wall) ? handle(throughOllama(request, true)) : refusal()
    try {
      return Bun.serve({
        hostname,
        port: port ?? 0,
        development: false,
        idleTimeout: IDLE_SECONDS_MAX,
        maxRequestBodySize: Number.MAX_SAFE_INTEGER,
        fetch,
      })
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      throw new ConfigError(`MB_OLLAMA_PORT ${port} cannot be used on ${hostname}: ${code}`)
    }
  }

  return {
    embeddingsRequest: EmbeddingsRequest,

    /** The key that acts for a request of the port. */
    standIn: (request: Request) => (isKeyless(request) ? key : null),

    /** Listens where a port is set. Throws `ConfigError` where the address is taken. */
    async listen(handle: Handle) {
      if (port === undefined) return null
      const server = serve(handle)
      log.info('ollama port listens', { host: hostname, port: server.port })
      if (!LOOPBACK.test(hostname)) {
        log.warn('MB_OLLAMA_PORT is open to the network without a key', { host: hostname })
      }
      if ((await keys.find(key ?? '')) === null) {
        log.warn('ollama key is unknown or revoked', { setting: 'MB_OLLAMA_KEY' })
      }
      return {
        port: server.port,
        busy: () => server.pendingRequests,
        stop: () => void server.stop(),
        close: () => void server.stop(true),
      }
    },
  }
}

function refusal(): Response {
  const error = appError('origin_refused')
  const headers = { 'x-moonbase': '1', 'x-error-code': error.code }
  return Response.json(ollamaError(error), { status: error.status, headers })
}
