import { z } from 'zod'
import { randomToken, sha256Base64Url } from '../../core/crypto.ts'
import { issue } from '../../core/errors.ts'
import { requiredText } from '../../core/fields.ts'
import { SHARE_TEXT_CHARS_MAX } from '../../core/limits/contract.ts'
import type { BudgetedKey, Principal } from '../../core/principal.ts'
import { rating, reason } from '../../core/rating.ts'
import type { OpenShare } from '../../features/shares/store.ts'

const session = z
  .string({ error: issue('share_session') })
  .regex(/^share-[A-Za-z0-9_-]{16,100}$/, { error: issue('share_session') })

/** A visitor's turn: a text, and the name that the browser has generated for the session. */
export const VisitorTurn = z.object({
  text: requiredText('text', SHARE_TEXT_CHARS_MAX),
  session_id: session.optional(),
})

/** A visitor's thumb for an answer. */
export const VisitorFeedback = z.object({
  session_id: session,
  seq: z.int({ error: issue('field_required', { field: 'seq', kind: 'int' }) }),
  rating,
  reason,
})

/** What is answered to it. */
export const VisitorRated = z.object({ seq: z.int(), rating: z.int() })

/** The principal of a visitor: acts as the app, without any right to manage. */
export const visitorOf = ({ id, hash, tenantId, appId }: OpenShare): Principal => ({
  kind: 'app',
  tenantId,
  keyId: null,
  appId,
  deviceId: null,
  userId: null,
  shareId: id,
  shareHash: hash,
})

/** The tokens that all visitors of a share may use; they are counted by its id. */
export const budgetOf = ({ id, tenantId, dailyTokens }: OpenShare): BudgetedKey => ({
  tenantId,
  keyId: id,
  dailyTokens,
})

/**
 * The session id of a visitor, from the share and the name that the browser has generated. So no
 * visitor can name a session of a key, a person, a device or another share.
 */
export const sessionOf = ({ id }: OpenShare, given = `share-${randomToken(16)}`): string =>
  `share-${sha256Base64Url(`${id}\n${given}`).slice(0, 32)}`
