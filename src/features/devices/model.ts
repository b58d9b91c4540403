import { z } from 'zod'
import { issue } from '../../core/errors.ts'
import { nullableText, requiredText } from '../../core/fields.ts'
import {
  DEVICE_LABEL_CHARS_MAX,
  DEVICE_NAME_CHARS_MAX,
  SENTENCE_CHARS_MAX,
} from '../../core/limits/contract.ts'

/** A device as its tenant sees it: never its code, hash or key. */
export const Device = z.object({
  id: z.string(),
  name: z.string(),
  app_id: z.string().nullable(),
  hw_model: z.string().nullable(),
  firmware: z.string().nullable(),
  activated_at: z.string().nullable(),
  last_seen_at: z.string().nullable(),
  code_expires_at: z.string().nullable(),
  created_at: z.string(),
})
export type Device = z.infer<typeof Device>

const name = requiredText('name', DEVICE_NAME_CHARS_MAX)
const label = (field: string) => nullableText(field, DEVICE_LABEL_CHARS_MAX)

/** Digits as they are typed: blanks and dashes between them mean nothing. */
function shownDigits() {
  return z
    .string({ error: issue('field_required', { field: 'code', kind: 'string' }) })
    .overwrite((typed) =>
      typed
        .slice(0, 100)
        .normalize('NFKC')
        .replace(/[\s\p{Pd}]/gu, ''),
    )
    .refine((digits) => digits !== '', { error: issue('field_empty', { field: 'code' }) })
}

export const DeviceRegisterRequest = z.lazy(() =>
  z.object({
    name,
    /** The app need not exist. */
    app_id: label('app_id'),
    hw_model: label('hw_model'),
  }),
)
export type DeviceRegisterRequest = z.infer<typeof DeviceRegisterRequest>

/** Pairs a board by the six digits that it shows. */
export const DevicePairRequest = z.lazy(() =>
  z.object({ code: shownDigits(), name, app_id: label('app_id') }),
)
export type DevicePairRequest = z.infer<typeof DevicePairRequest>

/** Asks which board shows these digits, before it is paired. */
export const WaitingBoardRequest = z.lazy(() => z.object({ code: shownDigits() }))

/** Enough for the owner to recognise the board. */
export const WaitingBoardResponse = z.lazy(() =>
  z.object({
    /** The kind of board; null when it reports none. */
    board: z.string().nullable(),
    /** The last four characters of its MAC address. */
    mac_tail: z.string(),
  }),
)
export type WaitingBoardResponse = z.infer<typeof WaitingBoardResponse>

/** An omitted `app_id` unbinds, as null and the empty string do. */
export const DeviceUpdateRequest = z.lazy(() => z.object({ name, app_id: label('app_id') }))
export type DeviceUpdateRequest = z.infer<typeof DeviceUpdateRequest>

export const DeviceHeartbeatRequest = z.lazy(() =>
  z.object({
    firmware: label('firmware'),
    hw_model: label('hw_model'),
  }),
)
export type DeviceHeartbeatRequest = z.infer<typeof DeviceHeartbeatRequest>

/** Only presence is checked here: a malformed code is answered as an unknown one. */
export const DeviceActivateRequest = z.lazy(() =>
  z.object({
    code: z
      .string({ error: issue('field_required', { field: 'code', kind: 'string' }) })
      .refine((code) => code.trim() !== '', { error: issue('field_empty', { field: 'code' }) }),
  }),
)

/** Only this response and that of recode hold the code in plain text. */
export const DeviceRegisterResponse = Device.pick({
  id: true,
  name: true,
  app_id: true,
  hw_model: true,
  created_at: true,
}).extend({ activation_code: z.string(), code_expires_at: z.string() })
export type DeviceRegisterResponse = z.infer<typeof DeviceRegisterResponse>

export const DeviceRecodeResponse = z.lazy(() =>
  z.object({
    id: z.string(),
    activation_code: z.string(),
    code_expires_at: z.string(),
  }),
)
export type DeviceRecodeResponse = z.infer<typeof DeviceRecodeResponse>

/** The only response that holds a device's key in plain text. */
export const DeviceActivateResponse = z.lazy(() =>
  z.object({
    device_id: z.string(),
    key: z.string(),
    app_id: z.string().nullable(),
  }),
)
export type DeviceActivateResponse = z.infer<typeof DeviceActivateResponse>

export const DeviceHeartbeatResponse = z.lazy(() =>
  z.object({
    device_id: z.string(),
    last_seen_at: z.string(),
    /**
     * Results of schedules and reminders of the device, and sentences to say, each given once. The
     * `run_id` of a sentence is its own id; no run has it.
     */
    notices: z.array(z.object({ run_id: z.string(), text: z.string(), due_at: z.string() })),
  }),
)
/** A sentence that the device speaks by itself, or is given with its next heartbeat. */
export const DeviceSayRequest = z.lazy(() =>
  z.object({ text: requiredText('text', SENTENCE_CHARS_MAX) }),
)
export const DeviceSayResponse = z.lazy(() => z.object({ id: z.string(), text: z.string() }))
export const DeviceListResponse = z.lazy(() => z.object({ devices: z.array(Device) }))
export const DeviceDeleteResponse = z.lazy(() =>
  z.object({ id: z.string(), deleted: z.literal(true) }),
)
