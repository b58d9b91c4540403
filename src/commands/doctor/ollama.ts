import { type Finding, fail, ok, type UpstreamParts, warn } from './finding.ts'
import { isFree } from './voice.ts'

const NAME = 'Ollama'

/** Asks the running server's port as clients of Ollama do; else checks that the port is free. */
export async function checkOllamaPort(
  { config, isServed }: UpstreamParts,
  signal: AbortSignal,
): Promise<Finding> {
  const { MB_OLLAMA_PORT: port, MB_HOST: host, MB_TLS_CERT: cert } = config
  if (port === undefined) return ok(NAME, 'off; MB_OLLAMA_PORT and MB_OLLAMA_KEY turn it on')
  if (!isServed) {
    return (await isFree(host, port))
      ? ok(NAME, `${host}:${port} is free; the key is looked at when the server runs`)
      : fail(NAME, `${host}:${port} cannot be listened on`, 'choose another MB_OLLAMA_PORT')
  }
  const at = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  const scheme = cert === undefined ? 'http' : 'https'
  const url = `${scheme}://${at.includes(':') ? `[${at}]` : at}:${port}/api/tags`
  const status = await statusOf(url, signal)
  if (status === 401) {
    return fail(NAME, 'the key is unknown or revoked', 'set MB_OLLAMA_KEY to a valid key')
  }
  if (status === 200) return ok(NAME, `answers at ${host}:${port}`)
  const said = status === null ? 'nobody answers' : 'another program answers'
  const mend = 'start the server with the same settings as this command'
  return warn(NAME, `${said} at ${host}:${port}`, mend)
}

/** Null where nobody answers. */
async function statusOf(url: string, signal: AbortSignal): Promise<number | null> {
  try {
    // Nothing secret is sent, and a certificate need not name this address.
    const response = await fetch(url, { signal, tls: { rejectUnauthorized: false } })
    await response.body?.cancel()
    return response.headers.has('x-moonbase') ? response.status : 0
  } catch {
    return null
  }
}
