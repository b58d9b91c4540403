import type {
  AuthenticationResponseJSON,
  RegistrationResponseJSON,
  VerifiedAuthenticationResponse,
  VerifiedRegistrationResponse,
} from '@simplewebauthn/server'
import type { Clock } from '../../../core/clock.ts'
import { newId } from '../../../core/crypto.ts'
import { appError } from '../../../core/errors.ts'
import { PASSKEY_CHALLENGE_SECONDS_MAX, PASSKEYS_MAX } from '../../../core/limits/contract.ts'
import type { SignedInUser } from '../../tenants/service.ts'
import type { SignupPolicy } from '../signup-policy.ts'
import type { Challenges } from './challenges.ts'
import type { Passkey } from './model.ts'
import type { RelyingParty } from './relying-party.ts'
import type { OwnedPasskey, PasskeyRow, PasskeyStore } from './store.ts'

export interface PasskeyServiceOptions {
  readonly store: PasskeyStore
  readonly challenges: Challenges
  readonly signup: Pick<SignupPolicy, 'admit'>
  readonly clock: Pick<Clock, 'iso'>
}

/** The end of a try to sign in: who is in, or whose passkey was refused, where that is known. */
export interface PasskeyTry {
  readonly user: SignedInUser | null
  readonly refused: OwnedPasskey | null
}

/** The library is loaded with the first use: it parses certificates, too. */
async function webauthn() {
  // A part of it needs this polyfill, which its bundle in the executable loads too late.
  await import('reflect-metadata')
  return import('@simplewebauthn/server')
}

const TIMEOUT_MS = PASSKEY_CHALLENGE_SECONDS_MAX * 1000
/** EdDSA, ES256 and RS256 (RFC 9053, RFC 8812). */
const ALGORITHMS = [-8, -7, -257]

const shown = (row: PasskeyRow): Passkey => ({
  id: row.id,
  name: row.name,
  created_at: row.created_at,
  last_used_at: row.last_used_at,
  backed_up: row.backed_up === 1,
  transports: transportsOf(row),
})

const transportsOf = ({ transports }: PasskeyRow) => JSON.parse(transports) as string[]
/** Says nothing about the person outside this server. */
const handleOf = (userId: string) => Buffer.from(userId)

/** Passkeys: discoverable credentials of WebAuthn that verify their person. */
export function createPasskeys({ store, challenges, signup, clock }: PasskeyServiceOptions) {
  async function verified(
    key: OwnedPasskey,
    response: AuthenticationResponseJSON,
    expected: Expected,
  ): Promise<SignedInUser | null> {
    const handle = response.response?.userHandle
    if (handle && handle !== handleOf(key.user_id).toString('base64url')) return null
    const info = await assertionOf(key, response, expected)
    if (!info) return null
    const { newCounter, credentialBackedUp } = info
    if (!(await store.used(key.id, newCounter, credentialBackedUp, clock.iso()))) return null
    return signup.admit(key.email)
  }

  return {
    ...ownPasskeys(store),

    /** Options with which a browser asks for any passkey of this server. */
    async signInOptions(rp: RelyingParty, owner: string) {
      const { browser, challenge } = await challenges.issue(null, owner)
      const { generateAuthenticationOptions } = await webauthn()
      const options = await generateAuthenticationOptions({
        rpID: rp.id,
        challenge: Buffer.from(challenge, 'base64url'),
        userVerification: 'required',
        timeout: TIMEOUT_MS,
      })
      return { browser, options: { ...options } }
    },

    /** Spends the challenge of the browser, right or wrong. */
    async signIn(
      rp: RelyingParty,
      browsers: readonly string[],
      given: Readonly<Record<string, unknown>>,
    ): Promise<PasskeyTry> {
      const challenge = await challenges.take(browsers, null)
      const response = given as unknown as AuthenticationResponseJSON
      const key = typeof given.id === 'string' ? await store.byCredential(given.id) : null
      if (!key) return { user: null, refused: null }
      const user = challenge ? await verified(key, response, { challenge, rp }) : null
      return { user, refused: user ? null : key }
    },

    /** Options with which a browser makes a passkey. Throws `quota_passkeys`. */
    async addOptions(rp: RelyingParty, person: { readonly id: string; readonly email: string }) {
      const own = await store.list(person.id)
      if (own.length >= PASSKEYS_MAX) throw full()
      const { browser, challenge } = await challenges.issue(person.id, person.id)
      const { generateRegistrationOptions } = await webauthn()
      const options = await generateRegistrationOptions({
        rpName: 'Moonbase',
        rpID: rp.id,
        userName: person.email,
        userID: new Uint8Array(handleOf(person.id)),
        challenge: Buffer.from(challenge, 'base64url'),
        timeout: TIMEOUT_MS,
        attestationType: 'none',
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
        supportedAlgorithmIDs: ALGORITHMS,
        excludeCredentials: own.map(({ credential_id: id }) => ({ id })),
      })
      return { browser, options: { ...options } }
    },

    /** Throws 400 for what does not answer the challenge of this browser and person. */
    async add(
      rp: RelyingParty,
      browsers: readonly string[],
      userId: string,
      name: string,
      given: Readonly<Record<string, unknown>>,
    ): Promise<Passkey> {
      const challenge = await challenges.take(browsers, userId)
      const response = given as unknown as RegistrationResponseJSON
      const info = challenge && (await registrationOf(response, { challenge, rp }))
      if (!info) throw appError('field_invalid', { field: 'response' })
      const row: PasskeyRow = {
        id: newId(),
        user_id: userId,
        credential_id: info.credential.id,
        public_key: info.credential.publicKey,
        counter: info.credential.counter,
        name,
        transports: JSON.stringify(info.credential.transports?.slice(0, 10) ?? []),
        backed_up: info.credentialBackedUp ? 1 : 0,
        created_at: clock.iso(),
        last_used_at: null,
      }
      if (await store.insert(row, PASSKEYS_MAX)) return shown(row)
      if ((await store.list(userId)).length >= PASSKEYS_MAX) throw full()
      throw appError('field_invalid', { field: 'response' })
    },
  }
}

export type Passkeys = ReturnType<typeof createPasskeys>

/** What a person does with the passkeys that they have. */
const ownPasskeys = (store: PasskeyStore) => ({
  async list(userId: string): Promise<{ passkeys: Passkey[] }> {
    return { passkeys: (await store.list(userId)).map(shown) }
  },

  async rename(userId: string, id: string, name: string): Promise<Passkey> {
    await store.rename(userId, id, name)
    return shown(await found(store, userId, id))
  },

  /** Resolves with its name. */
  async remove(userId: string, id: string): Promise<string> {
    const { name } = await found(store, userId, id)
    await store.remove(userId, id)
    return name
  },
})

const full = () => appError('quota_passkeys', { max: PASSKEYS_MAX })

async function found(store: PasskeyStore, userId: string, id: string): Promise<PasskeyRow> {
  const row = await store.find(userId, id)
  if (!row) throw appError('not_found', { what: 'passkey' })
  return row
}

interface Expected {
  readonly challenge: string
  readonly rp: RelyingParty
}

type Assertion = VerifiedAuthenticationResponse['authenticationInfo']
type Registration = NonNullable<VerifiedRegistrationResponse['registrationInfo']>

/** Null for whatever is wrong: the library throws another error for each part of the answer. */
async function assertionOf(
  key: PasskeyRow,
  response: AuthenticationResponseJSON,
  { challenge, rp }: Expected,
): Promise<Assertion | null> {
  const { verifyAuthenticationResponse } = await webauthn()
  const checked = await verifyAuthenticationResponse({
    response,
    expectedChallenge: challenge,
    expectedOrigin: rp.origin,
    expectedRPID: rp.id,
    requireUserVerification: true,
    credential: {
      id: key.credential_id,
      publicKey: new Uint8Array(key.public_key),
      counter: key.counter,
    },
  }).catch(() => null)
  return checked?.verified ? checked.authenticationInfo : null
}

async function registrationOf(
  response: RegistrationResponseJSON,
  { challenge, rp }: Expected,
): Promise<Registration | null> {
  const { verifyRegistrationResponse } = await webauthn()
  const checked = await verifyRegistrationResponse({
    response,
    expectedChallenge: challenge,
    expectedOrigin: rp.origin,
    expectedRPID: rp.id,
    requireUserVerification: true,
    supportedAlgorithmIDs: ALGORITHMS,
  }).catch(() => null)
  return checked?.registrationInfo ?? null
}
