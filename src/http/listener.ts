import { networkInterfaces } from 'node:os'
import { appError } from '../core/errors.ts'
import type { Logger } from '../core/log.ts'

/** The part of a server of Bun that is used here. */
interface Listening {
  readonly port: number | undefined
  readonly pendingRequests: number
  stop(closeActiveConnections?: boolean): Promise<void>
}

/** What answers; each call of `listen` makes a server and leaves it in `server`. */
interface Application<Server extends Listening> {
  server: Server | null
  listen(options: ListenOptions & { readonly hostname: string }): unknown
}

interface ListenOptions {
  readonly port: number
  readonly idleTimeout?: number
  readonly tls?: { readonly cert: string; readonly key: string }
}

const isWildcard = (host: string) => host === '0.0.0.0' || host === '::'

export interface ListenerOptions {
  /** The address of the environment. */
  readonly own: string
  /** The address of the console, by the settings of now; the same one where there is none. */
  readonly host: () => string
  readonly log: Pick<Logger, 'error'>
}

/**
 * Where the server listens: at the address of its environment, and at that of the console, too. All
 * addresses include the first one, so they are listened on in its place.
 */
export function createListener<Server extends Listening>(options: ListenerOptions) {
  const { own, log } = options
  const open = new Map<string, Server>()
  /** No longer listening; their connections end by themselves. */
  const former: Server[] = []
  let listen = (_host: string): Server | null => null
  let scheme = 'http'
  let port = 0

  const wanted = (): readonly string[] => {
    const host = options.host()
    return isWildcard(host) || host === own ? [host] : [own, host]
  }

  function tryAt(host: string): void {
    try {
      const server = listen(host)
      if (server) open.set(host, server)
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      log.error('cannot listen', { host, code })
    }
  }

  return {
    /** Throws as Bun does when the address of the environment cannot be listened on. */
    start(app: Application<Server>, options: ListenOptions): void {
      scheme = options.tls ? 'https' : 'http'
      port = options.port
      listen = (hostname) => {
        const { server: before } = app
        const { idleTimeout, tls } = options
        // With `reusePort` a second server on this port would get half of the requests.
        app.listen(
          Object.assign(
            { hostname, port, reusePort: false },
            idleTimeout ? { idleTimeout } : {},
            tls ? { tls } : {},
          ),
        )
        const made = app.server
        port = made?.port ?? port
        // Whoever asks the application for its server gets one that stays.
        if (before && open.has(own)) app.server = before
        return made
      }
      const hosts = wanted()
      if (!hosts.includes(own)) for (const host of hosts) tryAt(host)
      if (open.size > 0) return
      const server = listen(own)
      if (server) open.set(own, server)
      // One that cannot be listened on is told: it could not be undone in a console that is down.
      for (const host of hosts) if (!open.has(host)) tryAt(host)
    },

    /** Listens where the settings of now say. */
    settingsChanged(): void {
      if (open.size === 0) return
      const hosts = wanted()
      for (const [host, server] of [...open]) {
        if (hosts.includes(host)) continue
        open.delete(host)
        former.push(server)
        void server.stop()
      }
      for (const host of hosts) if (!open.has(host)) tryAt(host)
      if (open.size === 0) tryAt(own)
    },

    /** Throws `field_invalid` for what is no address of this machine. */
    check(host: string): void {
      try {
        Bun.listen({ hostname: host, port: 0, socket: { data() {} } }).stop(true)
      } catch (error) {
        throw appError('field_invalid', { field: 'MB_HOST' }, { cause: error })
      }
    },

    /** The addresses of this machine in its networks. */
    addresses(): string[] {
      const found = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
      const outer = found.filter(
        ({ internal, address }) => !internal && !address.toLowerCase().startsWith('fe80'),
      )
      const hosts = outer.map(({ family, address }) =>
        family === 'IPv6' ? `[${address}]` : address,
      )
      const sorted = hosts.sort((a, b) => Number(a.startsWith('[')) - Number(b.startsWith('[')))
      return (sorted.length > 0 ? sorted : ['127.0.0.1']).map(
        (host) => `${scheme}://${host}:${port}`,
      )
    },

    pending: (): number =>
      [...former, ...open.values()].reduce((sum, { pendingRequests }) => sum + pendingRequests, 0),

    /** Takes no more connections; with `now` ends those that are open. */
    async stop(now = false): Promise<void> {
      await Promise.all([...former, ...open.values()].map((server) => server.stop(now)))
    },
  }
}

export type Listener = ReturnType<typeof createListener>
