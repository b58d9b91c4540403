/** The kinds of keys, and the session of a person who is signed in. */
export type PrincipalKind = 'general' | 'app' | 'device' | 'session'

/** An owner may do everything, an editor all but members, a viewer reads and tries the agent. */
export type Role = 'owner' | 'editor' | 'viewer'

/**
 * Who a request acts for: made from the row of a key, the session of a person or the share of a
 * visitor, which name the tenant. A person who changes to another tenant names it in a body; the
 * session moves there when the person is a member of it (features/login/routes.ts).
 */
export interface Principal {
  readonly kind: PrincipalKind
  readonly tenantId: string
  /** The API key; null for a console session. */
  readonly keyId: string | null
  /** The app whose configuration agent turns use; null for tenant-wide behaviour. */
  readonly appId: string | null
  /** The device whose key this is. */
  readonly deviceId: string | null
  /** The signed-in person; null on the machine side. */
  readonly userId: string | null
  /** What this person may do in the tenant; of signed-in people only. */
  readonly role?: Role
  /** Whether an operator has closed the tenant; of signed-in people only. */
  readonly closed?: boolean
  /** Whether this person runs the server; true of signed-in people only. */
  readonly operator?: boolean
  /** The share by which a visitor talks to the app. */
  readonly shareId?: string
  /** The hash of the token that the visitor came with. */
  readonly shareHash?: string
  /** The turn is one that nobody waits for. */
  readonly run?: true
  /** Set when a tool of another turn has made this request, or may have. */
  readonly nested?: Nested
}

/** A key with a daily budget of tokens, input and output together. */
export interface BudgetedKey {
  readonly tenantId: string
  readonly keyId: string
  readonly dailyTokens: number
}

/** Keeps turns from calling themselves by way of their tools. */
export interface Nested {
  /** How many turns have led to this one. */
  readonly depth: number
  /** The Host header under which the request has reached this server. */
  readonly host: string
}

/** Kinds that may manage a tenant: its general keys and its signed-in people. */
export const MANAGERS: readonly PrincipalKind[] = ['general', 'session']
/** Every key, and signed-in people. */
export const EVERYONE: readonly PrincipalKind[] = ['general', 'app', 'device', 'session']
/** All who can read an answer by themselves: not the keys of devices. */
export const NOT_DEVICES: readonly PrincipalKind[] = ['general', 'app', 'session']
/** The keys of programs: neither devices nor people. */
export const PROGRAMS: readonly PrincipalKind[] = ['general', 'app']
