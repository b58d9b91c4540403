import type {
  PublicKeyCredentialCreationOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/browser'
import { call, segment } from './client.ts'
import type * as T from './types.ts'

/** The passkeys of the person. All calls throw `ApiError`. */
export const passkeys = {
  list: () => call<{ passkeys: T.Passkey[] }>('GET', '/auth/passkeys'),
  options: () => call<PublicKeyCredentialCreationOptionsJSON>('POST', '/auth/passkeys/options'),
  add: (name: string, response: RegistrationResponseJSON) =>
    call<T.Passkey>('POST', '/auth/passkeys', { name, response }),
  rename: (id: string, name: string) =>
    call<T.Passkey>('PUT', `/auth/passkeys/${segment(id)}`, { name }),
  remove: (id: string) => call<unknown>('DELETE', `/auth/passkeys/${segment(id)}`),
}
