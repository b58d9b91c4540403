import { api } from '../../api/index.ts'

/** The page after signing in: the choice of a model, for who runs a server without one. */
export async function firstPage(): Promise<string> {
  try {
    const [me, { checks }] = await Promise.all([api.auth.me(), api.status()])
    const isOffline = checks.some(
      (check) => check.name === 'llm' && check.class === 'offline_responder',
    )
    return me.operator && isOffline ? '/app/welcome' : '/app'
  } catch {
    return '/app'
  }
}
