import { z } from 'zod'
import { issue } from '../../../core/errors.ts'
import { requiredText } from '../../../core/fields.ts'
import { PASSKEY_NAME_CHARS_MAX } from '../../../core/limits/contract.ts'

/** A passkey of the signed-in person. */
export const Passkey = z.lazy(() =>
  z.object({
    id: z.string(),
    name: z.string(),
    created_at: z.string(),
    /** Null until somebody has signed in with it. */
    last_used_at: z.string().nullable(),
    /** Whether it is kept at more than one device. */
    backed_up: z.boolean(),
    /** How the authenticator is reached, such as `internal` or `usb`. */
    transports: z.array(z.string()),
  }),
)
export type Passkey = z.infer<typeof Passkey>

export const PasskeysResponse = z.lazy(() => z.object({ passkeys: z.array(Passkey) }))
export const PasskeyDeleteResponse = z.lazy(() =>
  z.object({ id: z.string(), deleted: z.literal(true) }),
)

const name = requiredText('name', PASSKEY_NAME_CHARS_MAX)
export const PasskeyName = z.lazy(() => z.object({ name }))

/** What the browser answered (WebAuthn, level 3); its parts are checked with the signature. */
const response = z.lazy(() =>
  z.record(z.string(), z.unknown(), {
    error: issue('field_required', { field: 'response', kind: 'object' }),
  }),
)
export const PasskeyAddRequest = z.lazy(() => z.object({ name, response }))
export const PasskeyVerifyRequest = z.lazy(() => z.object({ response }))

/** Options for the browser as WebAuthn names them (level 3). */
export const PasskeyOptions = z.lazy(() => z.looseObject({ challenge: z.string() }))
