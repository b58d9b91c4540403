import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'

/** What a browser and its authenticator do otherwise than they should. */
export interface Deviation {
  readonly origin?: string
  readonly rpId?: string
  readonly counter?: number
  readonly verified?: boolean
  readonly userHandle?: string
  readonly type?: string
  readonly challenge?: string
}

interface CreationOptions {
  readonly challenge: string
  readonly rp: { readonly id: string }
  readonly user: { readonly id: string }
}
interface RequestOptions {
  readonly challenge: string
  readonly rpId: string
}

const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest()

/** Heads of CBOR (RFC 8949): a type and a length below 65,536. */
function head(major: number, length: number): Buffer {
  if (length < 24) return Buffer.from([(major << 5) | length])
  if (length < 256) return Buffer.from([(major << 5) | 24, length])
  return Buffer.from([(major << 5) | 25, length >> 8, length & 255])
}
const int = (value: number) => (value < 0 ? head(1, -1 - value) : head(0, value))
const bytes = (value: Uint8Array) => Buffer.concat([head(2, value.length), value])
const text = (value: string) => Buffer.concat([head(3, value.length), Buffer.from(value)])
const map = (...pairs: readonly (readonly [Buffer, Buffer])[]) =>
  Buffer.concat([head(5, pairs.length), ...pairs.flat()])

/** An authenticator of WebAuthn with one credential of ES256, and the browser around it. */
export function softAuthenticator(origin: string) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const id = randomBytes(16)
  const state = { counter: 0, userHandle: '' }
  const cose = map(
    [int(1), int(2)],
    [int(3), int(-7)],
    [int(-1), int(1)],
    [int(-2), bytes(Buffer.from(x, 'base64url'))],
    [int(-3), bytes(Buffer.from(y, 'base64url'))],
  )

  function clientData(type: string, challenge: string, how: Deviation): Buffer {
    const said = { type: how.type ?? type, challenge: how.challenge ?? challenge }
    return Buffer.from(
      JSON.stringify({ ...said, origin: how.origin ?? origin, crossOrigin: false }),
    )
  }

  function authData(rpId: string, attested: Buffer, how: Deviation): Buffer {
    const flags = 0x01 | (how.verified === false ? 0 : 0x04) | (attested.length > 0 ? 0x40 : 0)
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(how.counter ?? state.counter)
    return Buffer.concat([sha256(how.rpId ?? rpId), Buffer.from([flags]), counter, attested])
  }

  const credential = (response: object) => ({
    id: id.toString('base64url'),
    rawId: id.toString('base64url'),
    type: 'public-key',
    clientExtensionResults: {},
    authenticatorAttachment: 'platform',
    response,
  })

  return {
    state,
    id: id.toString('base64url'),

    /** Answers `navigator.credentials.create`. */
    create(options: CreationOptions, how: Deviation = {}) {
      state.userHandle = options.user.id
      const length = Buffer.from([0, id.length])
      const attested = Buffer.concat([Buffer.alloc(16), length, id, cose])
      const attestation = map(
        [text('fmt'), text('none')],
        [text('attStmt'), map()],
        [text('authData'), bytes(authData(options.rp.id, attested, how))],
      )
      return credential({
        clientDataJSON: clientData('webauthn.create', options.challenge, how).toString('base64url'),
        attestationObject: attestation.toString('base64url'),
        transports: ['internal'],
      })
    },

    /** Answers `navigator.credentials.get`. */
    get(options: RequestOptions, how: Deviation = {}) {
      state.counter += 1
      const client = clientData('webauthn.get', options.challenge, how)
      const data = authData(options.rpId, Buffer.alloc(0), how)
      const signature = sign('sha256', Buffer.concat([data, sha256(client)]), privateKey)
      return credential({
        clientDataJSON: client.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: signature.toString('base64url'),
        userHandle: how.userHandle ?? state.userHandle,
      })
    },
  }
}

export type SoftAuthenticator = ReturnType<typeof softAuthenticator>
