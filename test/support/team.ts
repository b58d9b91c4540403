import { type Call, caller } from './api.ts'
import type { TestApp } from './app.ts'

export type Role = 'owner' | 'editor' | 'viewer'

export interface Member {
  readonly id: string
  readonly email: string
  readonly role: Role
  readonly joined_at: string | null
  readonly keys: number
}

export interface Me {
  readonly tenant_id: string
  readonly role: Role
  readonly tenants: readonly { id: string; name: string; role: Role }[]
}

export const meOf = async (call: Call): Promise<Me> => (await call<Me>('GET', '/auth/me')).json()

let names = 0

/** The owner of a new tenant, and functions that invite members. */
export async function startTeam(app: TestApp) {
  names += 1
  const email = `owner${names}@example.com`
  const { headers, tenantId } = await app.person(email)
  const call = caller(app.url, headers)

  async function invite(address: string, role: Role): Promise<Member & { mailed: boolean }> {
    const body = { email: address, role }
    const answer = await call<Member & { mailed: boolean }>('POST', '/console/members', body)
    if (answer.status !== 201) throw new Error(`invite: ${answer.status} ${answer.text}`)
    return answer.json()
  }

  return {
    email,
    tenantId,
    call,
    headers,
    invite,

    async list(): Promise<Member[]> {
      return (await call<{ members: Member[] }>('GET', '/console/members')).json().members
    },

    /** A known person who has accepted an invitation and has switched to the tenant. */
    async join(role: Role) {
      names += 1
      const address = `member${names}@example.com`
      const person = await app.person(address)
      const { id } = await invite(address, role)
      const theirs = caller(app.url, person.headers)
      const joined = await theirs('POST', `/auth/invitations/${id}/accept`)
      if (joined.status !== 200) throw new Error(`accept: ${joined.status}`)
      const moved = await theirs('POST', '/auth/tenant', { tenant_id: tenantId })
      if (moved.status !== 200) throw new Error(`switch: ${moved.status}`)
      return { id, email: address, call: theirs, headers: person.headers }
    },
  }
}
