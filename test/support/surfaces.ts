import type { TestApp } from './app.ts'
import { signIn } from './login.ts'

/** The two ways to the same handlers (specification, dual-surface rule). */
export const SURFACES = ['/v1', '/console'] as const
export type Surface = (typeof SURFACES)[number]

/** Credentials of one tenant for both surfaces, by surface. */
export async function credentials(
  app: TestApp,
  email = 'a@example.com',
): Promise<Record<Surface, Record<string, string>>> {
  const { headers: machine } = await app.key(email)
  const { headers: person } = await signIn(app, email)
  return { '/v1': { ...machine }, '/console': { ...person } }
}
