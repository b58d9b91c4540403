import type { TestApp } from './app.ts'
import { postSse } from './sse.ts'
import { startTeam } from './team.ts'

export interface Share {
  readonly id: string
  readonly token: string
  readonly turns_today: number
  readonly [more: string]: unknown
}

/** An app with a share, and its owner. */
export async function startShare(app: TestApp, body: object = {}, appBody: object = {}) {
  const owner = await startTeam(app)
  const made = await owner.call<{ id: string }>('POST', '/console/apps', {
    name: '客服 <b>',
    ...appBody,
  })
  const appId = made.json().id
  const at = `/console/apps/${appId}/shares`
  const answer = await owner.call<Share>('POST', at, { name: '官网', ...body })
  if (answer.status !== 201) throw new Error(`share: ${answer.status} ${answer.text}`)
  return { ...owner, appId, at, share: answer.json() }
}

/** Asks as a visitor at an address; the server must trust one proxy. */
export const visitor =
  (app: TestApp, address: string) =>
  (token: string, body: unknown, headers: Record<string, string> = {}) =>
    postSse(`${app.url}/s/${token}`, { body, headers: { 'x-forwarded-for': address, ...headers } })
